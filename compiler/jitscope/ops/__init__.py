"""The primitives, each with its rules in one place; `families` holds the rules that many share.

`linear` comes first: the closed set whose rules name each other. Every other file imports only `families` and files
before it: elementwise, reduce, dot, indexing, sort, rng, collective.
"""
