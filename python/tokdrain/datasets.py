"""Helpers for Hugging Face datasets (and whatever else maps functions over batches of rows).

    from tokdrain.datasets import CountTokens, WithinBudget
    dataset = dataset.map(CountTokens("model"), batched=True, num_proc=2)
    dataset = dataset.filter(WithinBudget("model", 8192), batched=True)

The objects are pickled with the model's name or path, not with what is loaded: each process loads
it once. datasets itself is not needed to import this module."""
import threading

from tokdrain._counter import Counter
from tokdrain._errors import InputError, error_text

_BATCH_KEYS = {"messages": "messages_column", "tools": "tools_column",
               "chat_template_kwargs": "kwargs_column", "text": "text_column"}


class _OnRows:
    """What the classes below share: a counter, made when a process first counts."""

    def __init__(self, model, *, messages_column="messages", tools_column=None, kwargs_column=None,
                 text_column=None, drop_nulls=False, **counter_options):
        """text_column: plain texts, in place of messages. drop_nulls: fields of messages that are
        None are left out (Arrow has every field in every row). counter_options: Counter's."""
        if text_column is not None:
            messages_column = None
        self.model = model
        self._columns = {"messages": messages_column, "tools": tools_column,
                         "chat_template_kwargs": kwargs_column, "text": text_column}
        self._columns = {key: name for key, name in self._columns.items() if name is not None}
        self._drop_nulls = drop_nulls
        self._options = counter_options
        self._counter, self._lock = None, threading.Lock()

    def __getstate__(self):
        state = dict(self.__dict__)
        del state["_counter"], state["_lock"]
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._counter, self._lock = None, threading.Lock()

    def _results(self, batch):
        with self._lock:
            if self._counter is None:
                self._counter = Counter(self.model, **self._options)
        for key, name in self._columns.items():
            if name not in batch:
                raise InputError(f"there is no column {name!r} ({_BATCH_KEYS[key]} names another)")
        columns = [batch[name] for name in self._columns.values()]
        return self._counter.count_batch(
            [self._request(dict(zip(self._columns, row, strict=True)))
             for row in zip(*columns, strict=True)])

    def _request(self, row):
        if self._drop_nulls:
            row = _without_nulls(row)
        whole = row.get("messages")
        return whole.encode("utf-8", "surrogatepass") if isinstance(whole, str) and \
            whole.lstrip().startswith("{") else \
            {key: _parsed(key, value) for key, value in row.items()}


def _parsed(key, value):
    """JSON texts in columns of values, which datasets often have for tools."""
    if key == "text" or not isinstance(value, str):
        return value
    import json
    try:
        return json.loads(value)
    except ValueError:
        return value  # no list or object: the request's own error


def _without_nulls(value):
    if isinstance(value, dict):
        return {k: _without_nulls(v) for k, v in value.items() if v is not None}
    return [_without_nulls(v) for v in value] if isinstance(value, list) else value


class CountTokens(_OnRows):
    """For `map(..., batched=True)`: adds a column with the number of tokens of each row, None
    where it cannot be counted, and one with the error ("kind: text") or None. With
    raise_errors=True the first error is raised, and there is no column for them."""

    def __init__(self, model, *, tokens_column="tokens", error_column="error", raise_errors=False,
                 **options):
        super().__init__(model, **options)
        self._added = tokens_column, error_column
        self._raise = raise_errors

    def __call__(self, batch):
        results = self._results(batch)
        tokens = {self._added[0]: [r.tokens for r in results]}
        if not self._raise:
            return {**tokens, self._added[1]: [r.error and error_text(r.error) for r in results]}
        for result in results:
            if result.error is not None and result.tokens is None:
                raise result.error
        return tokens


class WithinBudget(_OnRows):
    """For `filter(..., batched=True)`: whether a row has at most `most` tokens (and at least
    `least`). Rows that cannot be counted are left out, or raise with raise_errors=True."""

    def __init__(self, model, most, *, least=0, raise_errors=False, **options):
        super().__init__(model, **options)
        self._most, self._least, self._raise = most, least, raise_errors

    def __call__(self, batch):
        results = self._results(batch)
        for result in results:
            if self._raise and result.tokens is None:
                raise result.error
        return [r.tokens is not None and self._least <= r.tokens <= self._most for r in results]
