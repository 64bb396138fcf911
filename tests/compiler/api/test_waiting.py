"""Waiting for results."""

import jitscope as jx
import jitscope.numpy as jnp


class Later:
    """A result of something else, which can be waited for."""

    def __init__(self) -> None:
        self.waited = 0

    def block_until_ready(self) -> "Later":
        self.waited += 1
        return self


def test_what_is_no_array_is_waited_for_by_its_own_method() -> None:
    later = Later()
    tree = {"a": jnp.ones(3), "b": [later, 2.0, "text"]}
    assert jx.block_until_ready(tree) is tree and later.waited == 1
