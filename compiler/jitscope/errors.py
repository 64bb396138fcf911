"""`jitscope.errors`: the errors to catch, by JAX's names."""

from .core.errors import *


__all__ = ["CallbackResultError", "ConcretizationTypeError", "DeletedArrayError", "InconclusiveDimensionOperation",
           "JAXIndexError", "JAXTypeError", "JaxRuntimeError", "JaxprTypeError", "KeyReuseError",
           "NonConcreteBooleanIndexError", "TracerArrayConversionError", "TracerBoolConversionError",
           "TracerIntegerConversionError", "TypePromotionError", "UnexpectedTracerError"]  # fmt: skip
