"""What is known of jax beyond its documented interface: names of local variables, of classes, of a hook. No other package has any;
`names` lists them.

Nothing here imports jax: it is found in `sys.modules` after the user has imported it. On a version that lacks a name, what needs
it is not shown, and `capabilities` says so.
"""

from .calls import (
    Hook as Hook,
    again as again,
    apart as apart,
    clearings as clearings,
    handed_on as handed_on,
    is_tree_class as is_tree_class,
    maps as maps,
    rebuilds as rebuilds,
    recording as recording,
    room_of as room_of,
    staging as staging,
    whole_tracebacks as whole_tracebacks,
    without_debugging as without_debugging,
)
from .compilations import (
    Compilation as Compilation,
    compiled as compiled,
    compiled_again as compiled_again,
    compiled_with as compiled_with,
    laid_out as laid_out,
    options_with as options_with,
)
from .frames import (
    OF_PMAP as OF_PMAP,
    Run as Run,
    TracedCall as TracedCall,
    body_of_loop as body_of_loop,
    branches as branches,
    called as called,
    entered as entered,
    entered_directly as entered_directly,
    given_to as given_to,
    jitted as jitted,
    local as local,
    raised as raised,
    refines as refines,
    refused_leaf as refused_leaf,
    running as running,
    traced as traced,
    transposed as transposed,
)
from .jaxprs import (
    ELEMENT as ELEMENT,
    buffer_of as buffer_of,
    equations as equations,
    evaluated as evaluated,
    evaluated_together as evaluated_together,
    is_over as is_over,
    made_by as made_by,
    parameters as parameters,
    recorded as recorded,
    scopes as scopes,
    scoping as scoping,
)
from .libraries import (
    LIFTED as LIFTED,
    LIFTED_RESULT as LIFTED_RESULT,
    LIFTED_RETURNED as LIFTED_RETURNED,
    OF_CLASS as OF_CLASS,
    LiftedMethod as LiftedMethod,
    attributes as attributes,
    lifted as lifted,
    method_of_class as method_of_class,
    own_result as own_result,
    returned as returned,
    surroundings as surroundings,
    variables as variables,
)
from .names import (
    HIT as HIT,
    MISS as MISS,
    RETRIEVED as RETRIEVED,
    SAVED as SAVED,
    STAGES as STAGES,
    MissingName as MissingName,
    array_class as array_class,
    can_mark as can_mark,
    capabilities as capabilities,
    folder as folder,
    jax as jax,
    listening as listening,
    module as module,
    monitoring as monitoring,
    names_are_keys as names_are_keys,
    there as there,
    unread as unread,
)
