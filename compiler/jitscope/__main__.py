"""`python -m jitscope …` is the command `jitscope …`."""

import sys
from importlib import import_module


sys.exit(import_module("jitscope_kernel.cli").main())
