from typing import Any, Optional, TypeVar, Union

from tokdrain._counter import Counter
from tokdrain._model import Model

_Data = TypeVar("_Data")  # a pyarrow.Table or RecordBatch
_Source = Union[Counter, Model, str]
BATCH_ROWS: int

def count(counter: _Source, data: _Data, *, messages_column: Optional[str] = "messages",
          tools_column: Optional[str] = None, kwargs_column: Optional[str] = None,
          columns: Optional[dict[str, str]] = None, tokens_column: str = "tokens",
          error_column: str = "error", drop_nulls: bool = False) -> _Data: ...
def columns_of(messages_column: Optional[str], tools_column: Optional[str],
               kwargs_column: Optional[str],
               columns: Optional[dict[str, str]]) -> dict[str, str]: ...
def count_column(counter: _Source, messages: Any, *, tools: Any = None,
                 chat_template_kwargs: Any = None, drop_nulls: bool = False,
                 **more: Any) -> tuple[Any, Any]: ...
def count_columns(counter: _Source, columns: dict[str, Any], *,
                  drop_nulls: bool = False) -> tuple[Any, Any]: ...
