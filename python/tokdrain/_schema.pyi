from collections.abc import Iterable
from typing import Any, Callable, Union

_Tools = Iterable[Union[dict[str, Any], Callable[..., Any]]]

def get_json_schema(function: Callable[..., Any]) -> dict[str, Any]: ...
def tools_of(tools: _Tools) -> list[dict[str, Any]]: ...
