"""`jitscope.errors`: the errors to catch, by JAX's names."""

from .core.errors import (
    CallbackResultError as CallbackResultError,
    ConcretizationTypeError as ConcretizationTypeError,
    DeletedArrayError as DeletedArrayError,
    InconclusiveDimensionOperation as InconclusiveDimensionOperation,
    JAXIndexError as JAXIndexError,
    JaxprTypeError as JaxprTypeError,
    JaxRuntimeError as JaxRuntimeError,
    JAXTypeError as JAXTypeError,
    KeyReuseError as KeyReuseError,
    MissingRule as MissingRule,
    NonConcreteBooleanIndexError as NonConcreteBooleanIndexError,
    TracerArrayConversionError as TracerArrayConversionError,
    TracerBoolConversionError as TracerBoolConversionError,
    TracerIntegerConversionError as TracerIntegerConversionError,
    TypePromotionError as TypePromotionError,
    UnexpectedTracerError as UnexpectedTracerError,
)


__all__ = [
    "CallbackResultError",
    "ConcretizationTypeError",
    "DeletedArrayError",
    "InconclusiveDimensionOperation",
    "JAXIndexError",
    "JAXTypeError",
    "JaxRuntimeError",
    "JaxprTypeError",
    "KeyReuseError",
    "MissingRule",
    "NonConcreteBooleanIndexError",
    "TracerArrayConversionError",
    "TracerBoolConversionError",
    "TracerIntegerConversionError",
    "TypePromotionError",
    "UnexpectedTracerError",
]
