"""The process's CPU client, its devices, and getting data in and out of their buffers."""

from .buffers import *
from .devices import *
from .errors import *
from .reading import *
from .spread import *
