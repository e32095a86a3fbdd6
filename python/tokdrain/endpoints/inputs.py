"""What a BatchTokenizer counts: the same four kinds as upstream's, for who has them not at hand.
Objects of upstream's own classes, or any with these attributes, are taken as well."""
import dataclasses
from typing import Any, Optional, Union


@dataclasses.dataclass(frozen=True)
class TokenIdsInput:
    """Ids that are there already: their number."""

    token_ids: tuple


@dataclasses.dataclass(frozen=True)
class TextInput:
    """A plain text, without special tokens."""

    text: str


@dataclasses.dataclass(frozen=True)
class MessageInput:
    """One assistant message: the tokens that it adds to a conversation."""

    content: str
    reasoning: Optional[str] = None
    tool_calls: Optional[tuple] = None


@dataclasses.dataclass(frozen=True)
class PromptInput:
    """A whole conversation as its model sees it, with the generation prompt."""

    messages: tuple
    tools: Optional[tuple] = None
    chat_template_kwargs: Optional[dict] = None
    chat_template: Optional[str] = None
    tool_choice: Union[str, dict, None] = None


def kind_of(item: Any) -> str:
    """"ids", "text", "message" or "prompt"; AssertionError: none of them."""
    for attribute, kind in (("token_ids", "ids"), ("text", "text"), ("messages", "prompt"),
                            ("content", "message")):
        if hasattr(item, attribute):
            return kind
    raise AssertionError(f"{type(item).__name__} is no input of a BatchTokenizer")
