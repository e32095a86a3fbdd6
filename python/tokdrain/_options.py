"""Options that several classes take: sizes and moments."""
import datetime
import re
import sys

from tokdrain._errors import InputError

_UNITS = {"": 1, "B": 1, "KB": 10 ** 3, "MB": 10 ** 6, "GB": 10 ** 9, "K": 1 << 10, "M": 1 << 20,
          "G": 1 << 30, "KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30}


def parse_size(size):
    """Bytes of a number or a text such as "256MiB"."""
    if isinstance(size, int) and 0 <= size <= sys.maxsize:
        return size
    m = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([A-Z]*)", str(size).strip().upper())
    if m is None or m[2] not in _UNITS:
        raise InputError(f"{size!r} is no size: 256MiB, for example")
    return int(min(float(m[1]) * _UNITS[m[2]], sys.maxsize))


def check_numbers(**numbers):
    """InputError for one that is negative, or that the library has no room for."""
    for name, value in numbers.items():
        if value is not None and not 0 <= value < 1 << (33 if name == "timeout" else 63):
            raise InputError(f"{name}={value!r} is less than 0, or too large")


def utf8(text):
    """The bytes of a text for the native module, which may hold lone surrogates."""
    return text.encode("utf-8", "surrogatepass")


def check_several(things, function, what):
    """things, unless it is one thing whose parts would be taken for several."""
    if isinstance(things, (str, bytes, bytearray, dict)):
        raise TypeError(f"{function} takes {what}, one after the other, not a single "
                        f"{type(things).__name__}: put it into a list")
    return things


def parse_moment(now):
    """(fixed, seconds, microseconds, offset from UTC) of a datetime or ISO 8601 text."""
    if now is None:
        return 0, 0, 0, 0
    if isinstance(now, str):
        now = datetime.datetime.fromisoformat(now)
    if now.tzinfo is None:
        now = now.astimezone()
    epoch = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
    since = now - epoch
    return (1, since.days * 86400 + since.seconds, since.microseconds,
            int(now.utcoffset().total_seconds()))
