"""Functions as tools: the schemas that transformers makes of them, and refusals where it refuses."""
import enum
import functools
from typing import Any, Dict, List, Literal, Optional, Tuple, Union

import pytest

tokdrain = pytest.importorskip("tokdrain", reason="the Python package is not built")


class Unit(enum.Enum):
    C = "celsius"
    K = 1


class Empty(enum.Enum):
    pass


class Own:
    pass


def weather(city: str, days: int = 3, unit: Unit = Unit.C, exact: Optional[bool] = None) -> dict:
    """
    Weather of a place.
    Second line.

    Args:
        city: The city,
            with more about it: like this
        days (int, optional): How many
        unit: Which unit (choices: ["a", " b "])
        exact: Whether

    Returns:
        What it is: a dict
    """


def everything(a: list, b: list[int], c: List[List[str]], d: tuple, e: Tuple[int, str],
               f: Dict[str, float], g: dict, h: Any, i: Union[int, str], j: int | None,
               k: Union[int, list[int]], m: Literal["x", 1, None], n: str | int | None,
               o: Union[list, tuple], p: None, q: Literal[True], r: list[Optional[int]]) -> Own:
    """All kinds of types.

    Args:
        a: a
        b: b
        c: c
        d: d
        e: e
        f: f
        g: g
        h: h
        i: i
        j: j
        k: k
        m: m
        n: n
        o: o
        p: p
        q: q
        r: r
    Raises:
        Nothing: ever
    """


def no_arguments():
    """Does it."""


def no_doc(x: int):
    pass


def no_hint(x):
    """Does.

    Args:
        x: it
    """


def not_described(x: int, y: int):
    """Does.

    Args:
        x: it
    """


def own_type(x: Own):
    """Does.

    Args:
        x: it
    """


def one_tuple(x: Tuple[int]):
    """Does.

    Args:
        x: it
    """


def many_tuple(x: Tuple[int, ...]):
    """Does.

    Args:
        x: it
    """


def empty_enum(x: Empty):
    """Does.

    Args:
        x: it
    """


def variadic(*args: int, **kwargs: str) -> int:
    """Does.

    Args:
        args: them
        kwargs: those

    Returns:
        int: how many
    """


def odd_layout(x: int, y: str = "Args:") -> str:
    """First.

    Returns: not a heading
    Args:
      x: one

        indented
      y (str): two: three

    Returns:
      a str

    Raises:
      E: never
    """


def choices(x: str, y: int):
    """Choices.

    Args:
        x: pick (Choices: ["a", "b"])
        y: number (choices: [1, 2]) and more
    """


def bad_choices(x: str):
    """Choices.

    Args:
        x: pick (choices: [a])
    """


class Holder:
    def method(self, x: int):
        """Method.

        Args:
            x: it
        """

    @classmethod
    def of_class(cls, x: int):
        """Method.

        Args:
            x: it
        """


@functools.wraps(weather)
def wrapped(*args, **kwargs):
    return weather(*args, **kwargs)


FUNCTIONS = [weather, everything, no_arguments, no_doc, no_hint, not_described, own_type, one_tuple,
             many_tuple, empty_enum, variadic, odd_layout, choices, bad_choices, Holder().method,
             Holder.of_class, Holder.method, wrapped, lambda x: x]


@pytest.mark.parametrize("function", FUNCTIONS, ids=[f.__name__ for f in FUNCTIONS])
def test_schema(function):
    from transformers.utils import get_json_schema
    try:
        want = get_json_schema(function)
    except Exception:  # noqa: BLE001 - refused there: refused here
        with pytest.raises(ValueError):
            tokdrain.get_json_schema(function)
        return
    got = tokdrain.get_json_schema(function)
    assert got == want
    assert list(map(str, [got])) == list(map(str, [want]))  # the order of keys, too


def test_functions_as_tools(load):
    model, tokenizer = load("default")
    hi = [{"role": "user", "content": "x"}]
    for tools in ([weather, Holder().method], [weather, {"type": "function", "function": {
            "name": "f"}}], (weather,), []):
        assert model.apply_chat_template(hi, tools=tools) == \
            tokenizer.apply_chat_template(hi, tools=tools)
        assert model.count(hi, tools=tools, add_generation_prompt=False) == \
            len(tokenizer.apply_chat_template(hi, tools=tools)["input_ids"])
    for wrong in ([print], ["x"], [3], [functools.partial(weather, "x")], [Holder]):
        for f in (model.apply_chat_template, tokenizer.apply_chat_template, model.count):
            with pytest.raises(ValueError):
                f(hi, tools=wrong)
