"""Questions that check themselves: the reader predicts in one cell, the next one, which is folded, asks the compiler.

    prediction = ...  # how many equations?

    check(prediction, truth=lambda: len(jx.make_jaxpr(f)(x).eqns), hint="Count the operations.", because="Each operation is one.")

No answer is stored anywhere: `truth` is found out when the check runs. What it prints, and the cards of what it compiled again, wait
below the question until the prediction is right.
"""

import ast
import contextlib
import io
from html import escape

import numpy as np


class Verdict:
    """What was found: one line of text; as HTML, with the answer in a fold. It is true if it is "Right"."""

    def __init__(self, verdict, said, answer=None):
        self.verdict, self.said, self.answer = verdict, said, answer

    def __bool__(self):
        return self.verdict == "Right"

    def __repr__(self):
        return f"{self.verdict}: {self.said}"

    def _repr_html_(self):
        fold = f"<details><summary>Show the answer</summary>{escape(self.answer)}</details>" if self.answer else ""
        lines = escape(self.said).replace("\n", "<br>")
        return (
            '<div style="border-left: 3px solid currentColor; padding-left: 0.8em">'
            f"<strong>{self.verdict}.</strong> {lines}{fold}</div>"
        )


def check(prediction, truth, *, hint, because):
    """Compare a prediction with the truth, a value or a function that finds it out.

    `...` is no prediction. `hint` is for a wrong one; `because` explains the truth, and is folded away until it was predicted.
    """
    printed = io.StringIO()
    cards(False)
    with contextlib.redirect_stdout(printed):
        truth = truth() if callable(truth) else truth
    answer = f"{_told(plain(truth))}. {because}"
    if prediction is not ... and means(prediction, truth):
        print(printed.getvalue(), end="")
        cards(True)
        return Verdict("Right", answer)
    if prediction is ...:
        return Verdict(
            "Unanswered", "Put your prediction in place of the dots above, and run both cells again.", answer
        )
    misread = _misread(prediction, truth)
    return Verdict("Not yet", f"You said {_shortly(prediction)}. {misread or hint}", answer)


def means(prediction, truth):
    """Whether a prediction says what is true, in any form that people write: 11, 11.0, "11" and np.int64(11); (4, 1), [4, 1] and "4, 1";
    nan and "NaN"; a set for things without an order."""
    prediction, truth = plain(prediction), plain(truth)
    if isinstance(truth, str):
        return _spelled(prediction) == _spelled(truth) or _equal_numbers(prediction, truth)
    if isinstance(prediction, str):
        prediction = _read(prediction)
    if isinstance(truth, bool) or isinstance(prediction, bool):
        return prediction is truth
    if isinstance(truth, frozenset):
        return isinstance(prediction, (tuple, frozenset)) and frozenset(prediction) == truth
    if isinstance(truth, tuple):
        alike = isinstance(prediction, tuple) and len(prediction) == len(truth)
        return alike and all(map(means, prediction, truth))
    return _equal_numbers(prediction, truth)


def plain(value):
    """A value without the clothes of its library: Python's number, bool or text, a tuple of these, or a frozenset."""
    if isinstance(value, (set, frozenset)):
        return frozenset(map(plain, value))
    if isinstance(value, (list, tuple)):
        return tuple(map(plain, value))
    if hasattr(value, "tolist") and hasattr(value, "dtype"):  # an array, or a number of NumPy's
        return plain(value.tolist())
    return value


def _equal_numbers(prediction, truth):
    """Numbers that agree to the digits that 32 bits have; nan agrees with nan."""
    try:
        found, wanted = complex(prediction), complex(truth)
    except (TypeError, ValueError):
        return False
    return bool(np.isclose(found, wanted, rtol=1e-6, atol=0, equal_nan=True))


_SAME = {"true": "true", "yes": "true", "false": "false", "no": "false", "infinity": "inf", "-infinity": "-inf"}


def _spelled(value):
    """A text without what does not matter in it."""
    word = " ".join(str(value).strip().strip("\"'.").lower().split())
    return {"infinity": "inf", "-infinity": "-inf"}.get(word, word)


def _read(text):
    """The value that a text stands for, or the text itself."""
    word = _SAME.get(_spelled(text), _spelled(text))
    if word in ("true", "false"):
        return word == "true"
    with contextlib.suppress(ValueError, SyntaxError, MemoryError):
        return plain(ast.literal_eval(text.strip()))
    with contextlib.suppress(ValueError):
        return float(word)
    return text


def _told(truth):
    """The truth as a person writes it."""
    return repr(sorted(truth, key=str)) if isinstance(truth, frozenset) else repr(truth)


def _misread(prediction, truth):
    """What is said of an answer of another kind than the one that is asked for; "" for one of that kind."""
    kind, wanted = (_kind(_read(x) if isinstance(x, str) else x) for x in (plain(prediction), plain(truth)))
    if isinstance(plain(prediction), (tuple, frozenset)) and isinstance(plain(truth), (tuple, frozenset)):
        return ""
    if isinstance(truth, str) and not isinstance(plain(prediction), str):
        return "" if kind == wanted else "The answer is a text here: write it between quotes."
    return "" if kind == wanted or isinstance(truth, str) else f"The answer is {wanted} here."


def _kind(value):
    if isinstance(value, bool):
        return "True or False"
    if isinstance(value, (int, float, complex)):
        return "a number, such as 3"
    if isinstance(value, (tuple, frozenset)):
        return "several values, such as (1, 2)" if isinstance(value, tuple) else 'a list, such as ["this"]'
    return "a text"


def _shortly(value):
    try:
        text = repr(value)
    except Exception:
        text = f"something of the type {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:79]}…"


def cards(shown):
    """Whether the cell that runs shows below it what it compiled again: below a question that would be the answer."""
    with contextlib.suppress(ImportError, AttributeError):
        from IPython.core.getipython import get_ipython

        from jitscope_kernel import session

        if (ours := session.of(get_ipython())) is not None:
            ours.hush(not shown)
