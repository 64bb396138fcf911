"""What is known of jax beyond its documented interface: names of local variables, of classes, of a hook. No other package has any;
`names` lists them.

Nothing here imports jax: it is found in `sys.modules` after the user has imported it. On a version that lacks a name, what needs
it is not shown, and `capabilities` says so.
"""

from .calls import *
from .compilations import *
from .frames import *
from .jaxprs import *
from .libraries import *
from .names import *
