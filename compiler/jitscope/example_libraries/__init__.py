"""`jitscope.example_libraries`: small optimizers and layers under the names of `jax.example_libraries`, for libraries that are
built on them. `jitscope.optimizers` has more."""
