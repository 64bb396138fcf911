"""The language of the compiler: avals, dtypes, jaxprs, primitives, traces.

Imports nothing above it. `primitive.Primitive` documents the contract of an operation's rules, `trace` how values flow
through transformations, `staging` how a Python function becomes a jaxpr.
"""
