"""`jitscope.debug`: printing values of running programs, and handing them to Python functions."""

from .api.debugging import callback as callback, log as log, print as print
