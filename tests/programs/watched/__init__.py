"""A training step of equinox, run by jax itself in an environment that has them (`make .venv-watch/.installed`)."""
