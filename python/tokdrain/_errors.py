"""Exceptions, one class for each kind of error that a result line can have."""


class Error(Exception):
    """What every error of tokdrain is. Attributes that are not known are None."""

    kind = "internal"

    def __init__(self, message, *, file=None, line=None, column=None, offset=None,
                 message_index=None, index=None, excerpt=None):
        super().__init__(message)
        self.message = message
        self.file = file  # the template ("request": the request's own) or the input
        self.line = line  # 1-based
        self.column = column  # 1-based, in code points
        self.offset = offset  # in bytes, of the input
        self.message_index = message_index  # of the chat message it happened in
        self.index = index  # of the item in its batch
        self.excerpt = excerpt  # the line and a caret under the column

    def __str__(self):
        place = [f"line {self.line}" if self.line is not None else None,
                 f"column {self.column}" if self.column is not None else None]
        place = ", ".join(x for x in [self.file, *place] if x is not None)
        text = f"{self.message} ({place})" if place else self.message
        return f"{text}\n{self.excerpt}" if self.excerpt else text

    def __reduce__(self):
        details = {k: v for k, v in self.__dict__.items() if k != "message"}
        return _again, (type(self), self.message, details)


class InputError(Error, ValueError):
    """Malformed input, an unreadable file, an argument that does not fit."""

    kind = "input"


class TemplateError(Error, ValueError):
    """The chat template: syntax, raise_exception, an undefined value, a type."""

    kind = "template"


class LimitError(Error):
    """A documented bound was exceeded."""

    kind = "limit"


class TokenizerError(Error, ValueError):
    """The tokenizer cannot be loaded exactly, or refuses the text."""

    kind = "tokenizer"


class WorkerError(Error):
    """An external tokenizer process failed."""

    kind = "worker"


class CountTimeout(Error, TimeoutError):
    """The item's time was up."""

    kind = "timeout"


class VerifyError(Error):
    """A recount gave another number."""

    kind = "verify"


class InternalError(Error, MemoryError):
    """Out of memory."""

    kind = "internal"


_KINDS = {c.kind: c for c in (InputError, TemplateError, LimitError, TokenizerError, WorkerError,
                              CountTimeout, VerifyError, InternalError)}


def _again(cls, message, details):
    error = cls(message)
    error.__dict__.update(details)
    return error


def make(kind, message, file, line, column, offset, message_index, index, excerpt):
    """The exception for an error of the library."""
    return _KINDS[kind](message, file=file, line=line, column=column, offset=offset,
                        message_index=message_index, index=index, excerpt=excerpt)


def error_text(error):
    """One line for an error: its kind, what it is, and where in the template."""
    place = [error.file] if error.file is not None else []
    place += [f"line {error.line}"] if error.line is not None else []
    place += [f"column {error.column}"] if error.column is not None else []
    # Places in the input are those of a text that was made of the row.
    where = f" ({', '.join(place)})" if place and error.kind != "input" else ""
    text = f"{error.kind}: {error.message}{where}"
    return text.encode("utf-8", "replace").decode()  # lone surrogates have no place in a column
