"""Counting the inputs of a BatchTokenizer with a Counter."""
import asyncio
import logging

from tokdrain._counter import Counter
from tokdrain._errors import Error
from tokdrain.endpoints.inputs import kind_of

logger = logging.getLogger("tokdrain.endpoints")

# Names that apply_chat_template is called with in any case: a prompt cannot change them.
_FIXED = ("tokenize", "return_dict", "add_generation_prompt")
# Arguments of apply_chat_template that may make the ids fewer or more.
_SHAPING = ("truncation", "padding", "max_length", "return_tensors", "tokenizer_kwargs")


def _check_calls(calls):
    """What is no tool call is the input's error, not a reason to count a plain text."""
    for call in calls if isinstance(calls, (list, tuple)) else ():
        if not isinstance(call, dict) or not isinstance(call.get("function") or {}, dict):
            raise TypeError(f"{call!r} is no tool call")


def _message_request(item):
    _check_calls(item.tool_calls)
    message = {"content": item.content or ""}
    if item.reasoning:
        message["reasoning_content"] = item.reasoning
    if item.tool_calls:
        message["tool_calls"] = list(item.tool_calls)
    return {"message": message}


def _prompt_request(item):
    kwargs = {k: v for k, v in (item.chat_template_kwargs or {}).items() if k not in _FIXED}
    for message in item.messages:
        _check_calls(message.get("tool_calls"))
    request = {"messages": list(item.messages), "add_generation_prompt": True}
    for name in ("tools", "chat_template"):
        given = getattr(item, name)
        if given is not None:
            request[name] = list(given) if name == "tools" else given
            kwargs.pop(name, None)
    if getattr(item, "tool_choice", None) is not None:
        request["tool_choice"] = item.tool_choice
        kwargs.pop("tool_choice", None)
    if kwargs:
        request["chat_template_kwargs"] = kwargs
    return request


_REQUESTS = {"text": lambda item: item.text, "message": _message_request,
             "prompt": _prompt_request}
_IMPACT = {"message": "Tool-call OSL/TPOT may diverge.", "prompt": "Structured ISL may diverge."}


def _is_shaped(item):
    return any((item.chat_template_kwargs or {}).get(name) for name in _SHAPING)


class NativeEngine:
    """Counts with tokdrain's own tokenizer; a prompt that cannot be rendered as upstream does."""

    def __init__(self, name, model, jobs):
        self._name, self._model = name, model
        self._counter = Counter(model, jobs=jobs, parse_arguments=True, fallback=True)
        self._warned = set()
        self._check_baseline()

    def _check_baseline(self):
        pair = [{"role": "user", "content": ""}, {"role": "assistant", "content": ""}]
        try:
            self._model.count(pair, add_generation_prompt=False)
        except Error as error:
            logger.error("Failed to compute chat-template baseline for %s; tool-call token counts "
                         "may be over-estimated", self._name, exc_info=error)

    def close(self):
        self._counter.close()

    async def count(self, inputs, loop, width):
        """Counts or exceptions, at most width of them on their way at once (None: no bound)."""
        gate = asyncio.Semaphore(width) if width is not None else None
        kinds = [kind_of(item) for item in inputs]
        return await asyncio.gather(*(self._one(item, kind, loop, gate)
                                      for item, kind in zip(inputs, kinds)))

    async def _one(self, item, kind, loop, gate):
        try:
            if kind == "ids":
                return len(item.token_ids)
            if kind == "prompt" and _is_shaped(item):
                return await loop.run_in_executor(None, self._count_shaped, item)
            request = _REQUESTS[kind](item)
            if gate is None:
                result = await self._counter.acount(request)
            else:
                async with gate:
                    result = await self._counter.acount(request)
        except Exception as error:  # noqa: BLE001 - this input's outcome
            return error
        if result.error is not None:
            self._warn(result.error, _IMPACT[kind])
        return result.tokens

    def _warn(self, error, impact):
        """Once for each kind of error."""
        if error.kind in self._warned:
            return
        self._warned.add(error.kind)
        logger.error("apply_chat_template failed for %s (%s); falling back to whitespace "
                     "tokenization. %s", self._name, type(error).__name__, impact, exc_info=error)

    def _count_shaped(self, item):
        """A prompt whose keywords cut or fill up its ids, or fail to."""
        request = _prompt_request(item)
        kwargs = request["chat_template_kwargs"]
        more = {name: request[name] for name in ("tools", "chat_template", "tool_choice")
                if name in request}
        try:
            ids = self._model.apply_chat_template(
                _parsed(request["messages"]), add_generation_prompt=True, return_dict=False,
                **more, **kwargs)
            return len(ids)
        except Exception as error:  # noqa: BLE001 - the plain text stands in for it
            self._warn(error if isinstance(error, Error) else Error(str(error)),
                       _IMPACT["prompt"])
        request.pop("chat_template_kwargs")
        request["chat_template"] = "{{ raise_exception('no template') }}"
        return self._counter.count_batch([request], raise_errors=True)[0].tokens


def _parsed(messages):
    from tokdrain.endpoints.wrapped import parse_message
    return [parse_message(m) for m in messages]
