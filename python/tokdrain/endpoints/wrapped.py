"""Counting the inputs of a BatchTokenizer with a tokenizer of transformers, for classes that
tokdrain cannot read: slow ones, and those whose Python code comes with the model."""
import json
import logging
from concurrent.futures import ThreadPoolExecutor

from tokdrain.endpoints.inputs import kind_of

logger = logging.getLogger("tokdrain.endpoints")
_USER = {"role": "user", "content": ""}


def _parse_call(call):
    function = call.get("function") or {}
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        return call
    try:
        parsed = json.loads(arguments)
    except ValueError:
        return call
    if not isinstance(parsed, dict):
        return call
    return {**call, "function": {**function, "arguments": parsed}}


def parse_message(message):
    """The message with the arguments of its tool calls as objects where they are JSON texts."""
    calls = message.get("tool_calls")
    if not isinstance(calls, (list, tuple)) or not calls:
        return message
    return {**message, "tool_calls": [_parse_call(c) for c in calls]}


def _compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class WrappedEngine:
    """Counts as upstream does, one input after the other in a few threads."""

    def __init__(self, name, tokenizer, threads):
        self._name, self._tokenizer = name, tokenizer
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="tok-thread")
        self._warned = set()
        self._frame = 0
        try:
            self._frame = self._ids([_USER, {"role": "assistant", "content": ""}])
        except Exception as error:  # noqa: BLE001 - whatever the tokenizer's code raises
            logger.error("Failed to compute chat-template baseline for %s; tool-call token counts "
                         "may be over-estimated", name, exc_info=error)

    def close(self):
        self._pool.shutdown(wait=True, cancel_futures=True)

    async def count(self, inputs, loop, width):
        del width  # the threads are the bound
        outcomes = []
        for item in inputs:
            kind = kind_of(item)
            try:
                outcomes.append(len(item.token_ids) if kind == "ids" else
                                await loop.run_in_executor(self._pool, getattr(self, kind), item))
            except Exception as error:  # noqa: BLE001 - this input's outcome
                outcomes.append(error)
        return outcomes

    def _ids(self, messages, **kwargs):
        kwargs = {"add_generation_prompt": False, **kwargs, "tokenize": True, "return_dict": False}
        return len(self._tokenizer.apply_chat_template(messages, **kwargs))

    def _warn(self, error, impact):
        key = type(error).__name__
        if key not in self._warned:
            self._warned.add(key)
            logger.error("apply_chat_template failed for %s (%s); falling back to whitespace "
                         "tokenization. %s", self._name, key, impact, exc_info=error)

    def text(self, item):
        return len(self._tokenizer.encode(item.text, add_special_tokens=False))

    def message(self, item):
        message = {"role": "assistant", "content": item.content or ""}
        if item.reasoning:
            message["reasoning_content"] = item.reasoning
        if item.tool_calls:
            message["tool_calls"] = [_parse_call(c) for c in item.tool_calls]
        try:
            return max(0, self._ids([_USER, message]) - self._frame)
        except Exception as error:  # noqa: BLE001 - the plain text stands in for it
            self._warn(error, "Tool-call OSL/TPOT may diverge.")
        calls = _compact(list(item.tool_calls)) if item.tool_calls else None
        parts = [p for p in (item.content, item.reasoning, calls) if p]
        return len(self._tokenizer.tokenize("\n".join(parts)))

    def prompt(self, item):
        kwargs = {**(item.chat_template_kwargs or {}), "add_generation_prompt": True}
        for name in ("tools", "chat_template", "tool_choice"):
            given = getattr(item, name, None)
            if given is not None:
                kwargs[name] = list(given) if name == "tools" else given
        messages = [parse_message(m) for m in item.messages]
        try:
            return self._ids(messages, **kwargs)
        except Exception as error:  # noqa: BLE001 - the plain text stands in for it
            self._warn(error, "Structured ISL may diverge.")
        whole = {"messages": messages}
        if item.tools is not None:
            whole["tools"] = list(item.tools)
        return len(self._tokenizer.tokenize(_compact(whole)))
