"""Reading and writing at computed places: iota, dynamic slices, gather, scatter.

An index is in bounds where the whole slice that starts there is. `GatherScatterMode` says what happens elsewhere. Dynamic
slices clip.
"""

from .axes import *
from .counting import *
from .dynamic_slice import *
from .gather_scatter import *
from .scatter_base import *
from .scatters import *
