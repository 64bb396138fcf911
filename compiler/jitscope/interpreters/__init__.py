"""`jitscope.interpreters`: the rules of operations as tables, one for each transformation, under the names of
`jax.interpreters`.

A primitive here is one object whose methods are its rules (`jitscope.extend`). The tables are views of those objects:
`ad.primitive_jvps[p] = rule` is `p.jvp`, `batching.primitive_batchers[p] = rule` is `p.batch`, and so on.
"""
