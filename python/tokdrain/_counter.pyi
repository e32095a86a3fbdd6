import datetime
import os
from collections.abc import AsyncIterable, AsyncIterator, Generator, Iterable, Iterator
from typing import Any, Optional, TypeVar, Union

from tokdrain import _core
from tokdrain._core import Result as Result
from tokdrain._model import Model

# A list of messages, a text, a dict with the keys of a request line, or such a line.
_Request = Union[str, bytes, dict[str, Any], list[Any], tuple[Any, ...]]
_C = TypeVar("_C", bound=Counter)

__version__: str

def queue_of(model: Model, *, operation: int = 0, packed: bool = False,
             jobs: Optional[int] = None, memory: Union[int, str] = 0, reuse: bool = True,
             verify: bool = False, queue: int = 0, queue_memory: Union[int, str] = 0,
             chat_template: Optional[str] = None,
             chat_template_kwargs: Optional[dict[str, Any]] = None, parse_arguments: bool = False,
             fallback: bool = False, now: Optional[Union[str, datetime.datetime]] = None,
             timeout: Optional[float] = None, max_output: Union[int, str] = 0, max_steps: int = 0,
             max_memory: Union[int, str] = 0) -> _core.Queue: ...

class Counter:
    model: Model
    def __init__(self, model: Union[Model, str, bytes, os.PathLike[str]], *,
                 jobs: Optional[int] = None, memory: Union[int, str] = "256MiB",
                 reuse: bool = True, verify: bool = False, queue: int = 1024,
                 queue_memory: Union[int, str] = "256MiB", chat_template: Optional[str] = None,
                 chat_template_kwargs: Optional[dict[str, Any]] = None,
                 parse_arguments: bool = False, fallback: bool = False,
                 now: Optional[Union[str, datetime.datetime]] = None,
                 timeout: Optional[float] = None, max_output: Union[int, str] = 0,
                 max_steps: int = 0, max_memory: Union[int, str] = 0) -> None: ...
    def __enter__(self: _C) -> _C: ...
    def __exit__(self, *exc: object) -> None: ...
    def close(self) -> None: ...
    def stats(self) -> dict[str, int]: ...
    def count(self, request: _Request) -> Result: ...
    def count_batch(self, requests: Iterable[_Request], *,
                    raise_errors: bool = False) -> list[Result]: ...
    def count_iter(self, requests: Iterable[_Request], *,
                   raise_errors: bool = False) -> Iterator[Result]: ...
    def acount(self, request: Any) -> _Acount: ...
    async def acount_batch(self, requests: Union[Iterable[_Request], AsyncIterable[_Request]], *,
                           raise_errors: bool = False) -> list[Result]: ...

class _Acount:
    def __init__(self, counter: Counter, what: Any) -> None: ...
    def __await__(self) -> Generator[Any, Any, Result]: ...
    def __aiter__(self) -> AsyncIterator[Result]: ...
