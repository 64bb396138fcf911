"""`jitscope.optimizers`: gradient transformations in the form, and with the names and defaults, of optax.

One step:

    updates, state = optimizer.update(grads, state, params)
    params = optimizers.apply_updates(params, updates)

with `optimizer = optimizers.adam(1e-3)` and, at the start, `state = optimizer.init(params)`.
"""

from .algorithms import (
    adagrad as adagrad,
    adam as adam,
    adamw as adamw,
    lion as lion,
    momentum as momentum,
    rmsprop as rmsprop,
    sgd as sgd,
)
from .base import (
    EmptyState as EmptyState,
    GradientTransformation as GradientTransformation,
    GradientTransformationExtraArgs as GradientTransformationExtraArgs,
    Schedule as Schedule,
    apply_updates as apply_updates,
    chain as chain,
    global_norm as global_norm,
    identity as identity,
    set_to_zero as set_to_zero,
    stateless as stateless,
    stateless_with_tree_map as stateless_with_tree_map,
    with_extra_args_support as with_extra_args_support,
)
from .clipping import (
    clip as clip,
    clip_by_block_rms as clip_by_block_rms,
    clip_by_global_norm as clip_by_global_norm,
    zero_nans as zero_nans,
)
from .masking import (
    InjectHyperparamsState as InjectHyperparamsState,
    MaskedNode as MaskedNode,
    MaskedState as MaskedState,
    MultiSteps as MultiSteps,
    MultiStepsState as MultiStepsState,
    inject_hyperparams as inject_hyperparams,
    masked as masked,
)
from .schedules import (
    constant_schedule as constant_schedule,
    cosine_decay_schedule as cosine_decay_schedule,
    exponential_decay as exponential_decay,
    join_schedules as join_schedules,
    linear_schedule as linear_schedule,
    piecewise_constant_schedule as piecewise_constant_schedule,
    polynomial_schedule as polynomial_schedule,
    warmup_constant_schedule as warmup_constant_schedule,
    warmup_cosine_decay_schedule as warmup_cosine_decay_schedule,
    warmup_exponential_decay_schedule as warmup_exponential_decay_schedule,
)
from .transforms import (
    EmaState as EmaState,
    ScaleByAdamState as ScaleByAdamState,
    ScaleByLionState as ScaleByLionState,
    ScaleByRmsState as ScaleByRmsState,
    ScaleByRmsWithCountState as ScaleByRmsWithCountState,
    ScaleByRssState as ScaleByRssState,
    ScaleByRStdDevState as ScaleByRStdDevState,
    ScaleByRStdDevWithCountState as ScaleByRStdDevWithCountState,
    ScaleByScheduleState as ScaleByScheduleState,
    TraceState as TraceState,
    WeightDecaySchedule as WeightDecaySchedule,
    add_decayed_weights as add_decayed_weights,
    ema as ema,
    scale as scale,
    scale_by_adam as scale_by_adam,
    scale_by_learning_rate as scale_by_learning_rate,
    scale_by_lion as scale_by_lion,
    scale_by_rms as scale_by_rms,
    scale_by_rss as scale_by_rss,
    scale_by_schedule as scale_by_schedule,
    scale_by_stddev as scale_by_stddev,
    trace as trace,
)
