"""Questions that check themselves: the reader predicts in one cell, the next one, which is folded, asks the compiler.

    prediction = ...  # how many equations?

    check(prediction, truth=len(jx.make_jaxpr(f)(x).eqns), hint="Count the operations.", because="Each operation is one.")

No answer is stored anywhere: `truth` is computed when the cell runs.
"""

from html import escape


class Verdict:
    """What `check` found: one line of text; as HTML, with the answer in a fold."""

    def __init__(self, verdict, said, answer=None):
        self.verdict, self.said, self.answer = verdict, said, answer

    def __repr__(self):
        return f"{self.verdict}: {self.said}"

    def _repr_html_(self):
        fold = f"<details><summary>Show the answer</summary>{escape(self.answer)}</details>" if self.answer else ""
        return (
            '<div style="border-left: 3px solid currentColor; padding-left: 0.8em">'
            f"<strong>{self.verdict}.</strong> {escape(self.said)}{fold}</div>"
        )


def check(prediction, truth, *, hint, because):
    """Compare a prediction with the truth that the cell has just found out.

    `...` is no prediction. `hint` is for a wrong one; `because` explains the truth, and is folded away until it was predicted.
    """
    answer = f"{truth!r}. {because}"
    if prediction is ...:
        return Verdict(
            "Unanswered", "Put your prediction in place of the dots above, and run both cells again.", answer
        )
    if type(prediction) is type(truth) and prediction == truth:
        return Verdict("Right", answer)
    return Verdict("Not yet", f"You said {prediction!r}. {hint}", answer)
