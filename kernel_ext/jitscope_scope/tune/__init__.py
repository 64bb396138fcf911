"""Tuning one program: which of a few other ways to compile it is faster, proved by runs in pairs and kept for later sessions.

`space` says what may matter to a program, `worker` compiles and runs that in a process of its own, `racing` decides from the times, `same`
says how far results are apart, `subjects` are programs of jitscope's and of jax's.
"""

from .choosing import Outcome, Tuning, forget, forget_row, tune


__all__ = ["Outcome", "Tuning", "forget", "forget_row", "tune"]
