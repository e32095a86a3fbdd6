from collections.abc import Mapping, Sequence
from typing import Any, Optional, Union

from tokdrain._model import Model

class _OnRows:
    model: Union[Model, str]
    def __init__(self, model: Union[Model, str], *, messages_column: str = "messages",
                 tools_column: Optional[str] = None, kwargs_column: Optional[str] = None,
                 text_column: Optional[str] = None, drop_nulls: bool = False,
                 **counter_options: Any) -> None: ...

class CountTokens(_OnRows):
    def __init__(self, model: Union[Model, str], *, tokens_column: str = "tokens",
                 error_column: str = "error", raise_errors: bool = False,
                 **options: Any) -> None: ...
    def __call__(self, batch: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]: ...

class WithinBudget(_OnRows):
    def __init__(self, model: Union[Model, str], most: int, *, least: int = 0,
                 raise_errors: bool = False, **options: Any) -> None: ...
    def __call__(self, batch: Mapping[str, Sequence[Any]]) -> list[bool]: ...
