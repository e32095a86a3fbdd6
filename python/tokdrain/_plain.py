"""What a template sees of an object that is no plain one, as transformers shows it: the value of a
subclass, a mapping as a dict, the fields of a dataclass or pydantic model, a numpy scalar's value,
and a placeholder that names the type for everything else."""
import dataclasses
import sys
from collections.abc import Mapping


def _is_numpy_scalar(value):
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, numpy.generic)


def plain(value):
    """value as a plain object, one level: what is inside may still be anything."""
    for base in (str, int, float):
        if isinstance(value, base):
            return {str: str.__str__, int: int.__int__, float: float.__float__}[base](value)
    if isinstance(value, Mapping):
        return dict(value.items())
    if isinstance(value, list):
        return list(value)
    if isinstance(value, tuple):
        return tuple(value)
    if _is_numpy_scalar(value):
        item = value.item()
        return item if item is None or type(item) in (bool, str, int, float) else plain(item)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    dump = getattr(value, "model_dump", None)
    if callable(dump):
        dumped = dump()
        exact = (dict, list, tuple, str, int, float, bool, type(None))
        return dumped if type(dumped) in exact else plain(dumped)
    return f"<{type(value).__name__}>"
