"""Programs drawn from seeds, in which transformations and control flow are nested in each other.

`programs`: programs as trees and text; `operations` and `drawing`: one for each seed; `oracle`: what they mean, in NumPy;
`running`: the compiler's answers judged by it; `shrinking`: the smallest program that fails; `coverage`: what is nested in
what (`python -m tests.compiler.generated.coverage`).
"""
