"""Elementwise primitives. A regular one is a statement: name, partials, accepted kinds, builder."""

from .bits import *
from .comparison import *
from .division import *
from .extremes import *
from .numbers import *
from .parts import *
from .powers import *
from .remainder import *
from .rounding import *
from .special import *
from .stop_gradient import *
from .trigonometric import *
