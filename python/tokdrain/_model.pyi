import datetime
import os
from collections.abc import Iterable, Sequence
from typing import Any, Callable, Literal, Optional, TypeVar, Union, overload

from tokdrain._encoding import BatchEncoding

# Any: a conversation may also be a list of dataclasses or pydantic models, or have .messages.
_Conversation = Union[Sequence[dict[str, Any]], Sequence[Any], Any]
_Tools = Iterable[Union[dict[str, Any], Callable[..., Any]]]
_M = TypeVar("_M", bound=Model)

class Span(tuple[Optional[int], int, int]):
    @property
    def message(self) -> Optional[int]: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...

class Model:
    def __init__(self, core: Any, source: Any, settings: Any) -> None: ...
    @classmethod
    def from_pretrained(
        cls: type[_M], name: Union[str, bytes, os.PathLike[str]], *,
        revision: Optional[str] = None, cache_dir: Optional[Union[str, os.PathLike[str]]] = None,
        compat: Literal["transformers", "tokenizer.json"] = "transformers") -> _M: ...
    @classmethod
    def built_in(cls: type[_M]) -> _M: ...
    @classmethod
    def from_transformers(cls: type[_M], tokenizer: Any) -> _M: ...
    def with_options(
        self: _M, *, now: Optional[Union[str, datetime.datetime]] = ...,
        timeout: Optional[float] = ..., memory: Optional[Union[int, str]] = ..., reuse: bool = ...,
        max_output: Optional[Union[int, str]] = ..., max_steps: Optional[int] = ...,
        max_memory: Optional[Union[int, str]] = ...) -> _M: ...
    def info(self) -> dict[str, Any]: ...
    @property
    def vocab_size(self) -> int: ...
    def __len__(self) -> int: ...
    @property
    def special_tokens_map(self) -> dict[str, str]: ...
    @property
    def chat_templates(self) -> dict[str, str]: ...
    def token_to_id(self, token: str) -> Optional[int]: ...
    def id_to_token(self, number: int) -> Optional[str]: ...
    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]: ...
    @overload
    def encode_batch(self, texts: Iterable[str], add_special_tokens: bool = True, *,
                     flat: Literal[False] = False) -> list[list[int]]: ...
    @overload
    def encode_batch(self, texts: Iterable[str], add_special_tokens: bool = True, *,
                     flat: Literal[True]) -> tuple[Any, Any]: ...
    @overload
    def decode(self, ids: Union[int, Iterable[int]], skip_special_tokens: bool = False) -> str: ...
    @overload
    def decode(self, ids: Any, skip_special_tokens: bool = False) -> Union[str, list[str]]: ...
    def count(self, messages_or_text: Union[str, _Conversation],
              add_generation_prompt: Optional[bool] = None, *, tools: Optional[_Tools] = None,
              documents: Optional[Sequence[dict[str, Any]]] = None,
              chat_template: Optional[str] = None,
              continue_final_message: Union[bool, str] = False,
              sanitize_control_tokens: bool = False, **kwargs: Any) -> int: ...
    def spans(self, messages: _Conversation, add_generation_prompt: Optional[bool] = None, *,
              tools: Optional[_Tools] = None, documents: Optional[Sequence[dict[str, Any]]] = None,
              chat_template: Optional[str] = None,
              continue_final_message: Union[bool, str] = False, **kwargs: Any) -> list[Span]: ...
    def count_messages(self, messages: _Conversation, add_generation_prompt: Optional[bool] = None,
                       **kwargs: Any) -> list[int]: ...
    @overload
    def apply_chat_template(
        self, conversation: _Conversation, tools: Optional[_Tools] = None,
        documents: Optional[Sequence[dict[str, Any]]] = None, chat_template: Optional[str] = None,
        add_generation_prompt: bool = False, continue_final_message: Union[bool, str] = False,
        tokenize: Literal[True] = True, sanitize_control_tokens: bool = False,
        padding: Any = False, truncation: Any = False, max_length: Optional[int] = None,
        return_tensors: Any = None, return_dict: Literal[True] = True,
        return_assistant_tokens_mask: bool = False,
        tokenizer_kwargs: Optional[dict[str, Any]] = None, **kwargs: Any) -> BatchEncoding: ...
    @overload
    def apply_chat_template(
        self, conversation: _Conversation, tools: Optional[_Tools] = None,
        documents: Optional[Sequence[dict[str, Any]]] = None, chat_template: Optional[str] = None,
        add_generation_prompt: bool = False, continue_final_message: Union[bool, str] = False,
        tokenize: bool = True, sanitize_control_tokens: bool = False,
        padding: Any = False, truncation: Any = False, max_length: Optional[int] = None,
        return_tensors: Any = None, return_dict: bool = True,
        return_assistant_tokens_mask: bool = False,
        tokenizer_kwargs: Optional[dict[str, Any]] = None, **kwargs: Any) -> Any: ...
