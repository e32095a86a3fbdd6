"""JSON schemas of Python functions, as transformers makes them of functions given as tools: types
from the hints, descriptions from a docstring in Google's style."""
import enum
import inspect
import json
import re
import sys
import types
import typing

from tokdrain._errors import InputError

_SCALARS = {int: "integer", float: "number", str: "string", bool: "boolean", type(None): "null"}
_BARE = {**_SCALARS, list: "array", tuple: "array", dict: "object"}
_HEADINGS = r"(?:Args:|Returns:|Raises:|\Z)"
_ABOUT = re.compile(rf"\A(.*?)\s*{_HEADINGS}", re.S)
_ARGS = re.compile(rf"\n\s*Args:\n(.*?)\s*(?:Returns:|Raises:|\Z)", re.S)
_RETURNS = re.compile(r"\n\s*Returns:\n\s*(.*?)\s*(?:Raises:|\Z)", re.S)
# "name:" or "name (type):" at the beginning of a line
_NAME = r"\w+(?:[ \t]*\([^()\n]*\))?:"
_ARGUMENT = re.compile(rf"(?:^|\n)(?P<indent>[ \t]*)(?P<name>\w+)(?:[ \t]*\([^()\n]*\))?:\s*"
                       rf"(?P<text>.*?)\s*(?=\n(?!(?P=indent)[ \t])[ \t]*{_NAME}|\Z)", re.S)
_CHOICES = re.compile(r"\(choices:\s*(.*?)\)\s*$", re.I)


class _Unknown(Exception):
    """A type that has no schema."""


def _media(hint):
    """Types of optional packages that have a name of their own."""
    pil, torch = sys.modules.get("PIL.Image"), sys.modules.get("torch")
    if pil is not None and hint is pil.Image:
        return {"type": "image"}
    if torch is not None and hint is torch.Tensor:
        return {"type": "audio"}
    return None


def _of_values(values, what):
    if any(type(v) not in _SCALARS for v in values):
        raise _Unknown(f"{what} has values other than int, float, str, bool and None")
    names = list(dict.fromkeys(_SCALARS[type(v)] for v in values))
    return {"type": names[0] if len(names) == 1 else names, "enum": list(values)}


def _of_bare(hint):
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        values = [member.value for member in hint]
        if not values:
            raise _Unknown(f"{hint.__name__} has no members")
        return _of_values(values, hint.__name__)
    if hint is typing.Any:
        return {}
    try:
        name = _BARE.get(hint)
    except TypeError:
        name = None
    schema = {"type": name} if name is not None else _media(hint)
    if schema is None:
        raise _Unknown(f"{hint!r} has no JSON schema: write the tool's schema by hand")
    return schema


def _of_union(parts):
    schemas = [_of_hint(p) for p in parts if p is not type(None)]
    simple = all(s.keys() == {"type"} and isinstance(s["type"], str) for s in schemas)
    if len(schemas) == 1:
        schema = schemas[0]
    elif simple:
        names = sorted({s["type"] for s in schemas})
        schema = {"type": names[0] if len(names) == 1 else names}
    else:
        schema = {"anyOf": schemas}
    if type(None) in parts:
        schema["nullable"] = True
    return schema


def _of_tuple(hint, parts):
    if not parts:
        return {"type": "array"}
    if len(parts) == 1 or ... in parts:
        raise _Unknown(f"{hint!r}: tuples need a fixed number of items, two or more; use list")
    return {"type": "array", "prefixItems": [_of_hint(p) for p in parts]}


def _of_hint(hint):
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is None:
        return _of_bare(hint)
    if origin in (typing.Union, types.UnionType):
        return _of_union(parts)
    if origin is typing.Literal and parts:
        return _of_values(parts, "a Literal")
    if origin is list:
        return {"type": "array", "items": _of_hint(parts[0])} if parts else {"type": "array"}
    if origin is tuple:
        return _of_tuple(hint, parts)
    if origin is dict:
        more = {"additionalProperties": _of_hint(parts[1])} if len(parts) == 2 else {}
        return {"type": "object", **more}
    raise _Unknown(f"{hint!r} has no JSON schema: write the tool's schema by hand")


def _parameters(function, name):
    hints = typing.get_type_hints(function)
    parameters = inspect.signature(function).parameters
    first = next(iter(parameters), None)
    implicit = first if first in ("self", "cls") and \
        parameters[first].annotation is inspect.Parameter.empty else None
    required = []
    for key, parameter in parameters.items():
        if key == implicit:
            continue
        if parameter.annotation is inspect.Parameter.empty:
            raise _Unknown(f"{name}: the argument {key} has no type hint")
        if parameter.default is inspect.Parameter.empty:
            required.append(key)
    properties = {k: _of_hint(h) for k, h in hints.items() if k not in (implicit, "return")}
    returned = None
    if "return" in hints:
        try:
            returned = _of_hint(hints["return"])
        except _Unknown:
            pass  # nobody has to generate it
    schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    return schema, returned


def _describe(doc):
    """(what it does, {argument: description}, what it returns or None)"""
    about, arguments, returned = _ABOUT.search(doc), _ARGS.search(doc), _RETURNS.search(doc)
    described = {}
    if arguments is not None:
        text = "\n".join(x for x in arguments.group(1).split("\n") if x.strip())
        for m in _ARGUMENT.finditer(text):
            described[m["name"]] = re.sub(r"\s*\n+\s*", " ", m["text"].strip())
    return (about.group(1).strip() if about else None, described,
            returned.group(1).strip() if returned else None)


def _build(function, name):
    doc = inspect.getdoc(function)
    if not doc:
        raise _Unknown(f"{name} has no docstring")
    about, described, returns = _describe(doc.strip())
    schema, returned = _parameters(function, name)
    if returned is not None and returns is not None:
        returned["description"] = returns
    for key, value in schema["properties"].items():
        if key not in described:
            raise _Unknown(f"{name}: the docstring does not describe the argument {key}")
        text, choices = described[key], _CHOICES.search(described[key])
        if choices is not None:
            value["enum"] = [c.strip() if isinstance(c, str) else c
                             for c in json.loads(choices.group(1))]
            text = text[:choices.start()].strip()
        value["description"] = text
    made = {"name": name, "description": about, "parameters": schema}
    if returned is not None:
        made["return"] = returned
    return {"type": "function", "function": made}


def get_json_schema(function):
    """The schema of function as a tool. InputError: hints or docstring do not give one."""
    name = getattr(function, "__name__", "operation")
    try:
        return _build(function, name)
    except _Unknown as error:
        raise InputError(f"no JSON schema for {name}: {error}") from None


def tools_of(tools):
    """A list of schemas from schemas and functions."""
    made = []
    for tool in tools:
        if isinstance(tool, dict):
            made.append(tool)
        elif inspect.isfunction(tool) or inspect.ismethod(tool):
            made.append(get_json_schema(tool))
        else:
            raise InputError("a tool is a JSON schema (a dict) or a function with type hints and a "
                             f"docstring, not {type(tool).__name__}")
    return made
