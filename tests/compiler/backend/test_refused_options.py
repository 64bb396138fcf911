"""Options of jit that are refused, with what to do."""

import pytest

import jitscope as jx


def test_names_that_no_keyword_can_have():
    def f(a, /, b, *rest, **options):
        return b

    for what in ("static", "donate"):
        for name in ("a", "rest"):
            with pytest.raises(ValueError, match=f"takes {name!r} by position only; give {what}_argnums"):
                jx.jit(f, **{f"{what}_argnames": (name, "b")})
        jx.jit(f, **{f"{what}_argnames": ("b", "anything")})
    assert jx.jit(f, static_argnums=(0, 1))(1, 2) == 2


def test_names_without_a_signature():
    class Unsigned:
        @property
        def __signature__(self):
            raise TypeError("no signature")

        def __call__(self, x):
            return x

    with pytest.raises(ValueError, match="no signature to look them up in; give donate_argnums"):
        jx.jit(Unsigned(), donate_argnames="x")


def test_an_option_that_xla_does_not_have():
    lowered = jx.jit(lambda x: x + 1).lower(1.0)
    for error in (jx.errors.JaxRuntimeError, ValueError):
        with pytest.raises(error, match="No such compile option: 'xla_no_such'"):
            lowered.compile(compiler_options={"xla_no_such": "1"})
