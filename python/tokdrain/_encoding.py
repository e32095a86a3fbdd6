"""What encoding gives back: BatchEncoding, padding, truncation and tensors, as transformers."""
import sys
from collections import UserDict

from tokdrain._errors import InputError

HUGE = 10 ** 20  # a model_max_length beyond this is none


class BatchEncoding(UserDict):
    """Names and their lists or arrays; also as attributes. Where transformers is imported, its own
    class of this name is given instead."""

    def __init__(self, data=None):
        super().__init__(data or {})

    def __getattr__(self, name):
        try:
            return self.__dict__["data"][name]
        except KeyError:
            raise AttributeError(name) from None

    def __getitem__(self, key):
        if not isinstance(key, str):
            raise KeyError("only names are known here: import transformers for more")
        return self.data[key]

    def keys(self):
        return self.data.keys()

    def values(self):
        return self.data.values()

    def items(self):
        return self.data.items()


def batch_encoding(data):
    base = sys.modules.get("transformers.tokenization_utils_base")
    return base.BatchEncoding(data) if base is not None else BatchEncoding(data)


def name_of(strategy, known, what):
    """The text of a strategy given as text or as transformers' enum."""
    text = getattr(strategy, "value", strategy)
    if text not in known:
        raise InputError(f"{what}={strategy!r}: one of {', '.join(known)} is known")
    return text


class Shape:
    """How sequences are cut and filled up: the arguments of one call, settled."""

    PADDING = ("longest", "max_length", "do_not_pad")
    TRUNCATION = ("longest_first", "only_first", "only_second", "do_not_truncate")

    def __init__(self, settings, padding=False, truncation=False, max_length=None,
                 pad_to_multiple_of=None, padding_side=None):
        if max_length is not None and padding is False and truncation is None:
            truncation = "longest_first"
        pad = "do_not_pad" if padding is False else \
            "longest" if padding is True else name_of(padding, self.PADDING, "padding")
        cut = "do_not_truncate" if truncation is False or truncation is None else \
            "longest_first" if truncation is True else \
            name_of(truncation, self.TRUNCATION, "truncation")
        if max_length is None and (pad == "max_length" or cut != "do_not_truncate"):
            if settings.model_max_length > HUGE:
                pad = "do_not_pad" if pad == "max_length" else pad
                cut = "do_not_truncate"
            else:
                max_length = settings.model_max_length
        for name, value, used in (("max_length", max_length, pad == "max_length" or
                                   cut != "do_not_truncate"),
                                  ("pad_to_multiple_of", pad_to_multiple_of, pad != "do_not_pad")):
            if used and value is not None and (not isinstance(value, int) or
                                               not 0 <= value <= sys.maxsize):
                raise InputError(f"{name}={value!r} is no length")
        if pad != "do_not_pad" and padding_side not in (None, "left", "right"):
            raise InputError(f"padding_side={padding_side!r}: 'left' and 'right' are known")
        if pad != "do_not_pad" and settings.pad_token_id is None:
            raise InputError("padding needs a padding token, and the tokenizer has none")
        if cut != "do_not_truncate" and pad != "do_not_pad" and pad_to_multiple_of and \
                max_length is not None and max_length % pad_to_multiple_of:
            raise InputError(f"max_length {max_length} is no multiple of pad_to_multiple_of "
                             f"{pad_to_multiple_of}")
        self.settings, self.pad, self.multiple = settings, pad, pad_to_multiple_of
        self.cut_at = max_length if cut != "do_not_truncate" else None
        self.needs_pair = cut == "only_second"
        self.length = max_length if pad == "max_length" else None
        self.left = (padding_side or settings.padding_side) == "left"

    @property
    def plain(self):
        return self.cut_at is None and self.pad == "do_not_pad"

    def cut(self, items):
        if self.cut_at is None or len(items) <= self.cut_at:
            return items
        if self.needs_pair and self.cut_at != 0:
            raise InputError("truncation='only_second' needs pairs of texts")
        if self.settings.truncation_side == "left":
            return items[len(items) - self.cut_at:]
        return items[:self.cut_at]

    def target(self, lengths):
        """The length that sequences are filled up to; 0: none."""
        if self.pad == "do_not_pad":
            return 0
        length = self.length if self.length is not None else max(lengths, default=0)
        if self.multiple:
            length = -(-length // self.multiple) * self.multiple
        return length

    def fill(self, items, target, with_what):
        more = [with_what] * (target - len(items))
        return more + items if self.left else items + more


def as_tensors(data, kind):
    """The lists of data as arrays: "np", or "pt" where torch is installed."""
    kind = getattr(kind, "value", kind)
    if kind == "np":
        import numpy

        def convert(value):
            if len({len(x) for x in value}) > 1:  # as transformers: an array of arrays
                return numpy.asarray([numpy.asarray(x) for x in value], dtype=object)
            return numpy.asarray(value, dtype=None if value and value[0] else numpy.int64)
    elif kind == "pt":
        try:
            import torch
        except ImportError:
            raise InputError("return_tensors='pt' needs torch, which is not installed") from None

        def convert(value):
            return torch.tensor(value, dtype=torch.int64)
    else:
        raise InputError(f"return_tensors={kind!r}: 'np' and 'pt' are known")
    try:
        return {name: convert(value) for name, value in data.items()}
    except ValueError:
        raise InputError("the sequences have different lengths, so they make no tensor: "
                         "padding=True or truncation=True may help") from None
