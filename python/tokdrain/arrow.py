"""Counts of conversations that lie in Arrow columns, without Python objects a row.

    from tokdrain import Counter, arrow
    with Counter(model) as counter:
        table = arrow.count(counter, table)   # with the columns "tokens" and "error"

A column may hold JSON texts or nested values (list<struct<role, content, ...>>); both are read
where they lie, by the extension module. pyarrow is needed. docs/python.md tells the rest."""
from contextlib import contextmanager

try:
    import pyarrow as pa
except ImportError as error:
    raise ImportError("tokdrain.arrow needs pyarrow: pip install pyarrow") from error

from tokdrain._counter import Counter
from tokdrain._errors import InputError, error_text

BATCH_ROWS = 16384  # on their way at a time
# Keys of a request (docs/cli.md) whose texts are JSON; those of other keys are texts.
_JSON_KEYS = ("messages", "tools", "documents", "chat_template_kwargs", "message", "token_ids",
              "request")
_TEXT_KEYS = ("text", "chat_template", "tool_choice", "id")
_FLAG_KEYS = ("add_generation_prompt", "continue_final_message", "sanitize_control_tokens",
              "parse_arguments", "add_special_tokens")


def count(counter, data, *, messages_column="messages", tools_column=None, kwargs_column=None,
          columns=None, tokens_column="tokens", error_column="error", drop_nulls=False):
    """A Table or RecordBatch with two more columns: the counts (int64, null where there is none)
    and the errors ("kind: text", null where there is none).

    columns: {key of a request: name of its column}, in place of or beside the three names;
    "request" is a column of whole requests. drop_nulls: fields of structs that are null are left
    out at every depth (Parquet has them in every row; without, they are what to_pylist() gives)."""
    if not isinstance(data, (pa.Table, pa.RecordBatch)):
        raise TypeError(f"count takes a Table or RecordBatch, not {type(data).__name__}: "
                        "count_columns takes arrays")
    chosen = columns_of(messages_column, tools_column, kwargs_column, columns)
    names = data.schema.names
    for name in chosen.values():
        if names.count(name) != 1:
            raise InputError(f"there is no column {name!r}" if name not in names else
                             f"more than one column is {name!r}")
    for name in (tokens_column, error_column):
        if name in names:
            raise InputError(f"there is a column {name!r} already: choose another name for it")
    tokens, errors = count_columns(counter, {key: data.column(name)
                                             for key, name in chosen.items()},
                                   drop_nulls=drop_nulls)
    return data.append_column(tokens_column, tokens).append_column(error_column, errors)


def columns_of(messages_column, tools_column, kwargs_column, columns):
    """{key of a request: name of its column}."""
    chosen = dict(columns or {})
    if not {"messages", "text", "message", "token_ids", "request"} & chosen.keys():
        chosen = {"messages": messages_column, **chosen}
    if tools_column is not None:
        chosen["tools"] = tools_column
    if kwargs_column is not None:
        chosen["chat_template_kwargs"] = kwargs_column
    return chosen


def count_column(counter, messages, *, tools=None, chat_template_kwargs=None, drop_nulls=False,
                 **more):
    """(counts, errors) of an Array or ChunkedArray of messages; the other arguments, columns of
    the same length, are what a request's keys of that name say."""
    given = {"messages": messages, "tools": tools, "chat_template_kwargs": chat_template_kwargs,
             **more}
    return count_columns(counter, {k: v for k, v in given.items() if v is not None},
                         drop_nulls=drop_nulls)


def count_columns(counter, columns, *, drop_nulls=False):
    """(counts, errors) of columns, {key of a request: Array or ChunkedArray}: two Arrays, or two
    ChunkedArrays when one of the columns is chunked. counter: a Counter, or a Model or its name,
    for which one is made and closed."""
    if not columns:
        raise InputError("no columns: one of messages, text, message, token_ids, request is needed")
    for key in columns:
        if key not in _JSON_KEYS + _TEXT_KEYS + _FLAG_KEYS:
            raise InputError(f"{key!r} is no key of a request that a column can have")
    if "request" in columns and len(columns) > 1:
        raise InputError("a column of whole requests stands alone")
    if len({len(column) for column in columns.values()}) > 1:
        raise InputError("the columns have different lengths")
    table = pa.table({key: _readable(column) for key, column in columns.items()})
    tokens, errors = [], []
    with _counter_of(counter) as queue:
        for batch in table.to_batches(max_chunksize=BATCH_ROWS):
            counted = _count_batch(queue, batch, drop_nulls)
            tokens.append(counted[0])
            errors.append(counted[1])
    tokens, errors = pa.chunked_array(tokens, pa.int64()), pa.chunked_array(errors, pa.string())
    if any(isinstance(column, pa.ChunkedArray) for column in columns.values()):
        return tokens, errors
    return _whole(tokens), _whole(errors)


def _whole(chunked):
    return pa.concat_arrays(chunked.chunks) if chunked.num_chunks else pa.array([], chunked.type)


@contextmanager
def _counter_of(what):
    if isinstance(what, Counter):
        yield what._queue
    else:
        with Counter(what) as made:
            yield made._queue


def _readable(column):
    """The column in a form that the extension knows: texts neither as views nor by number."""
    if not isinstance(column, (pa.Array, pa.ChunkedArray)):
        raise TypeError(f"a column is an Array or ChunkedArray, not {type(column).__name__}")
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.cast(column.type.storage_type)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string_view(column.type) or pa.types.is_binary_view(column.type):
        column = column.cast(pa.large_binary())
    return column


def _is_text(kind):
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or _is_bytes(kind)


def _is_bytes(kind):
    return pa.types.is_binary(kind) or pa.types.is_large_binary(kind)


def _count_batch(queue, batch, drop_nulls):
    batch.validate()  # ends of buffers; the extension checks what lies in between
    columns = tuple((key if key != "request" else "", key in _JSON_KEYS and _is_text(column.type),
                     *column.__arrow_c_array__())
                    for key, column in zip(batch.schema.names, batch.columns, strict=True))
    values, valid, failures = queue.columns(columns, drop_nulls)
    tokens = pa.Array.from_buffers(pa.int64(), batch.num_rows,
                                   [pa.py_buffer(valid), pa.py_buffer(values)])
    if not failures:
        return tokens, pa.nulls(batch.num_rows, pa.string())
    texts = [None] * batch.num_rows
    for row, error in failures:
        texts[row] = error_text(error)
    return tokens, pa.array(texts, pa.string())
