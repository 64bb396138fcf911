"""Rewrites of the user's own code for an error while tracing, each tried by tracing it before it is offered."""

from .trying import repairs


__all__ = ["repairs"]
