"""The process's CPU client, its devices, and getting data in and out of their buffers."""

from .buffers import *
from .devices import *
from .errors import (
    DeletedBufferError as DeletedBufferError,
    ForkedProcessError as ForkedProcessError,
    XlaError as XlaError,
)
from .reading import *
