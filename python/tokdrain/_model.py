"""Model: a tokenizer with its chat templates, used as transformers' tokenizers are."""
import json
import operator
import os
from pathlib import Path

from tokdrain._encoding import HUGE, Shape, as_tensors, batch_encoding
from tokdrain._errors import InputError
from tokdrain._hub import cache_folder
from tokdrain._native import core as native
from tokdrain._options import check_numbers, check_several, parse_moment, parse_size, utf8
from tokdrain._schema import tools_of

COUNT, RENDER, ENCODE, DECODE = range(4)

# Classes whose defaults are not input_ids, attention_mask and padding on the right.
_TYPE_IDS = ("Bert", "Canine", "ConvBert", "DPRContextEncoder", "DPRQuestionEncoder", "Deberta",
             "DebertaV2", "LayoutLMv2", "MarkupLM", "Tapas")
_PAD_LEFT = ("CodeLlama", "Cohere", "Gemma", "Llama", "Siglip2", "XLNet")


_AS_IT_IS = object()  # an option that is not given


class Span(tuple):
    """(message, start, end): tokens from start to end came from that message; None: from none."""

    __slots__ = ()
    message = property(lambda self: self[0])
    start = property(lambda self: self[1])
    end = property(lambda self: self[2])


class _Settings:
    """What padding and truncation go by: tokenizer_config.json over the class's defaults."""

    def __init__(self, class_name, config, core):
        stem = class_name.removesuffix("Fast").removesuffix("Tokenizer")
        names = ["input_ids", "attention_mask"]
        if stem in _TYPE_IDS:
            names = ["input_ids", "token_type_ids", "attention_mask"]
        elif stem == "FNet":
            names = ["input_ids", "token_type_ids"]
        self.model_input_names = list(config.get("model_input_names") or names)
        self.padding_side = config.get("padding_side") or \
            ("left" if stem in _PAD_LEFT else "right")
        self.truncation_side = config.get("truncation_side") or "right"
        self.model_max_length = config.get("model_max_length")
        if not isinstance(self.model_max_length, (int, float)):
            self.model_max_length = HUGE * 10 ** 10
        pad = core.special_tokens().get("pad_token")
        self.pad_token_id = core.token_id(pad) if pad is not None else None
        self.pad_token_type_id = config.get("pad_token_type_id") or 0


def _read_config(folder):
    try:
        found = json.loads((Path(folder) / "tokenizer_config.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _snapshot(name, revision, cache):
    """The folder of a cached model, as the library finds it."""
    root = Path(cache) / ("models--" + name.replace("/", "--"))
    direct = root / "snapshots" / (revision or "main")
    if direct.is_dir():
        return direct
    try:
        return root / "snapshots" / (root / "refs" / (revision or "main")).read_text().strip()
    except OSError:
        return root


class Model:
    """A loaded model; any number of threads may use one. Made by from_pretrained and its like."""

    def __init__(self, core, source, settings):
        self._core = core
        self._source = source  # how another process makes the same: (function, arguments)
        self._settings = settings
        self._pool = None
        self._limits = {}  # of with_options

    # ---- loading ----

    @classmethod
    def from_pretrained(cls, name, *, revision=None, cache_dir=None, compat="transformers"):
        """Loads a directory, a tokenizer.json, or a name that the local Hugging Face cache holds
        (nothing is fetched). compat="tokenizer.json" follows the tokenizers library instead of
        AutoTokenizer's rules."""
        if compat not in ("transformers", "tokenizer.json"):
            raise InputError(f"compat={compat!r}: 'transformers' and 'tokenizer.json' are known")
        name = os.fsdecode(name)
        cache = os.fspath(cache_dir) if cache_dir is not None else cache_folder()
        core = native.Model.load(os.fsencode(name), revision, os.fsencode(cache),
                                 compat == "tokenizer.json")
        folder = name if os.path.isdir(name) else None
        if folder is None and not os.path.isfile(name):
            folder = _snapshot(name, revision, cache)
        config = _read_config(folder) if folder is not None else {}
        where = os.path.abspath(name) if os.path.exists(name) else name
        source = (_load_again, (cls, where, revision, cache_dir, compat))
        return cls(core, source, _settings_of(core, config))

    @classmethod
    def built_in(cls):
        """The small model that comes with the library."""
        core = native.Model.load(None, None, None, False)
        return cls(core, (_built_in_again, (cls,)), _settings_of(core, {}))

    @classmethod
    def from_transformers(cls, tokenizer):
        """Takes over a loaded fast tokenizer as it stands: its pipeline, added tokens, chat
        templates and special tokens. Later changes of either do not reach the other."""
        backend = getattr(tokenizer, "backend_tokenizer", None)
        if backend is None:
            raise InputError(f"{type(tokenizer).__name__} has no fast tokenizer behind it: use "
                             "the external worker (docs/workers.md)")
        template = tokenizer.chat_template
        by_name = isinstance(template, dict)
        templates = list(template.items()) if by_name else \
            [("default", template)] if template is not None else []
        name = type(tokenizer).__name__
        parts = (str(getattr(tokenizer, "name_or_path", "") or name), backend.to_str(), templates,
                 by_name, list(tokenizer.special_tokens_map.items()), name,
                 bool(tokenizer.clean_up_tokenization_spaces),
                 bool(getattr(tokenizer, "clean_up_tokenization_spaces_for_bpe_even_though_it_"
                              "will_corrupt_output", False)),
                 bool(getattr(tokenizer, "split_special_tokens", False)))
        config = {key: getattr(tokenizer, key, None) for key in (
            "model_input_names", "padding_side", "truncation_side", "model_max_length",
            "pad_token_type_id")}
        return _from_parts(cls, parts, config)

    def with_options(self, *, now=_AS_IT_IS, timeout=_AS_IT_IS, memory=_AS_IT_IS, reuse=_AS_IT_IS,
                     max_output=_AS_IT_IS, max_steps=_AS_IT_IS, max_memory=_AS_IT_IS):
        """The same model with other limits of one call, another moment for strftime_now (a
        datetime or ISO 8601 text), or another bound of what it keeps for reuse. What is not named
        stays as it is; 0 and None are the defaults (docs/limits.md)."""
        named = {k: v for k, v in locals().items() if k != "self" and v is not _AS_IT_IS}
        options = {k: v for k, v in {**self._limits, **named}.items() if v is not None}
        timeout, max_steps = options.get("timeout", 0), options.get("max_steps", 0)
        check_numbers(timeout=timeout, max_steps=max_steps)
        core = self._core.with_options(
            parse_size(options.get("memory", 0)), options.get("reuse", True),
            parse_size(options.get("max_output", 0)), max_steps,
            parse_size(options.get("max_memory", 0)), int(timeout * 1e9),
            *parse_moment(options.get("now")))
        made = type(self)(core, (_options_again, (self, named)), self._settings)
        made._limits = options
        return made

    def __reduce__(self):
        return self._source

    def __repr__(self):
        return f"<tokdrain.Model {self.info()['model']!r}>"

    # ---- what is in it ----

    def info(self):
        """What was loaded: class, rules, pipeline, sizes (as `tokdrain info --json`)."""
        return json.loads(self._core.describe())

    @property
    def vocab_size(self):
        """Entries, added tokens included (len() of a transformers tokenizer)."""
        return self._core.vocab_size()

    def __len__(self):
        return self._core.vocab_size()

    @property
    def special_tokens_map(self):
        """{name: text}, of those that the model has"""
        return self._core.special_tokens()

    @property
    def chat_templates(self):
        """{name: source}"""
        return dict(self._core.templates())

    def token_to_id(self, token):
        return self._core.token_id(token)

    def id_to_token(self, number):
        return self._core.token_text(number)

    # ---- text ----

    def encode(self, text, add_special_tokens=True):
        """The ids of a text, as transformers."""
        if not isinstance(text, str):
            raise TypeError(f"encode takes a str, not {type(text).__name__}: encode_batch takes "
                            "lists of them")
        request = {"text": text, "add_special_tokens": bool(add_special_tokens)}
        return self._core.run(ENCODE, request, False, False, False, False).ids

    def encode_batch(self, texts, add_special_tokens=True, *, flat=False):
        """Lists of ids, on all cores. flat: (ids, offsets) as numpy arrays instead, where the ids
        of text i are ids[offsets[i]:offsets[i + 1]]."""
        special = bool(add_special_tokens)
        requests = [{"text": _text(t, i), "add_special_tokens": special}
                    for i, t in enumerate(check_several(texts, "encode_batch", "texts"))]
        results = self._encoders(flat).batch(requests)
        for result in results:
            if result.error is not None:
                raise result.error
        if not flat:
            return [result.ids for result in results]
        import numpy
        arrays = [numpy.frombuffer(result.ids, dtype=numpy.uint32) for result in results]
        offsets = numpy.zeros(len(arrays) + 1, dtype=numpy.int64)
        numpy.cumsum([len(a) for a in arrays], out=offsets[1:])
        ids = numpy.concatenate(arrays) if arrays else numpy.zeros(0, dtype=numpy.uint32)
        return ids, offsets

    def decode(self, ids, skip_special_tokens=False):
        """The text of ids (a number, a list, an array), or texts of a list of lists."""
        ids = ids.tolist() if hasattr(ids, "tolist") else ids
        if isinstance(ids, int):
            ids = [ids]
        ids = list(ids)
        if ids and isinstance(ids[0], (list, tuple)) or ids and hasattr(ids[0], "tolist") and \
                not isinstance(ids[0].tolist(), int):
            return [self.decode(one, skip_special_tokens) for one in ids]
        request = {"token_ids": [operator.index(i) for i in ids]}
        return self._core.run(DECODE, request, False, bool(skip_special_tokens), False,
                              False).text

    # ---- conversations ----

    def count(self, messages_or_text, add_generation_prompt=None, *, tools=None, documents=None,
              chat_template=None, continue_final_message=False, sanitize_control_tokens=False,
              **kwargs):
        """The number of tokens of a conversation as its model sees it, or of a plain text (without
        special tokens). add_generation_prompt is true unless the final message is continued."""
        if isinstance(messages_or_text, str):
            return self._core.count(messages_or_text)
        if add_generation_prompt is None and tools is None and not kwargs and documents is None \
                and chat_template is None and not continue_final_message \
                and not sanitize_control_tokens and type(messages_or_text) is list:
            return self._core.count(messages_or_text)
        if add_generation_prompt is None:
            add_generation_prompt = not continue_final_message
        return self._core.count(_request(
            messages_or_text, tools, documents, chat_template, add_generation_prompt,
            continue_final_message, sanitize_control_tokens, False, kwargs))

    def spans(self, messages, add_generation_prompt=None, *, tools=None, documents=None,
              chat_template=None, continue_final_message=False, **kwargs):
        """A list of Span(message, start, end) that covers all tokens of the conversation, in order:
        which message they came from (None: the template's own, or nobody can tell). A message has
        what the template prints while it goes through the messages and is at this one; outside of
        such a loop it has its own texts. A token is of the message that its first byte is of."""
        if add_generation_prompt is None:
            add_generation_prompt = not continue_final_message
        request = _request(messages, tools, documents, chat_template, add_generation_prompt,
                           continue_final_message, False, False, kwargs)
        owned = self._core.run(COUNT, request, False, False, False, True).owned
        return [Span((None if m < 0 else m, start, end)) for m, start, end in owned]

    def count_messages(self, messages, add_generation_prompt=None, **kwargs):
        """The number of tokens of each message, in one pass, as spans tells them. What is left of
        the whole count is the template's own: tools, headers before the messages, the prompt."""
        messages = _messages(messages)
        counts = [0] * len(messages)
        for message, start, end in self.spans(messages, add_generation_prompt, **kwargs):
            if message is not None:
                counts[message] += end - start
        return counts

    def apply_chat_template(self, conversation, tools=None, documents=None, chat_template=None,
                            add_generation_prompt=False, continue_final_message=False,
                            tokenize=True, sanitize_control_tokens=False, padding=False,
                            truncation=False, max_length=None, return_tensors=None,
                            return_dict=True, return_assistant_tokens_mask=False,
                            tokenizer_kwargs=None, **kwargs):
        """As transformers: a BatchEncoding (return_dict), ids, or the text (tokenize=False); lists
        of these for a list of conversations."""
        if return_assistant_tokens_mask and not (return_dict and tokenize):
            raise InputError("return_assistant_tokens_mask needs return_dict and tokenize")
        if sanitize_control_tokens and not tokenize:
            raise InputError("sanitize_control_tokens needs tokenize")
        conversations, batched = _conversations(conversation)
        tools = tools_of(tools) if tools is not None else None
        requests = [_request(c, tools, documents, chat_template, add_generation_prompt,
                             continue_final_message, sanitize_control_tokens,
                             return_assistant_tokens_mask, kwargs) for c in conversations]
        if not tokenize:
            texts = [self._core.run(RENDER, r, False, False, batched, False).text
                     for r in requests]
            return texts if batched else texts[0]
        more = dict(tokenizer_kwargs or {})
        shape = Shape(self._settings, padding, truncation, max_length,
                      more.pop("pad_to_multiple_of", None), more.pop("padding_side", None))
        if more:
            raise InputError(f"tokenizer_kwargs: {', '.join(map(repr, more))} is not available")
        results = [self._core.run(ENCODE, r, False, False, batched, False) for r in requests]
        data = self._batch(results, shape, return_assistant_tokens_mask)
        return _returned(data, batched, return_tensors, return_dict)

    def _batch(self, results, shape, with_masks):
        settings = self._settings
        ids = [shape.cut(r.ids) for r in results]
        lengths = [len(x) for x in ids]
        target = shape.target(lengths)
        pad = settings.pad_token_id
        data = {"input_ids": [shape.fill(x, target, pad) for x in ids]}
        if "token_type_ids" in settings.model_input_names:
            data["token_type_ids"] = [shape.fill([0] * n, target, settings.pad_token_type_id)
                                      for n in lengths]
        if "attention_mask" in settings.model_input_names:
            data["attention_mask"] = [shape.fill([1] * n, target, 0) for n in lengths]
        if with_masks:
            data["assistant_masks"] = [shape.fill(shape.cut(r.mask), target, 0) for r in results]
        return data

    def _encoders(self, packed):
        """A pool of workers that encode, made when it is first needed."""
        from tokdrain._counter import queue_of
        if self._pool is None:
            self._pool = {}
        if packed not in self._pool:
            self._pool[packed] = queue_of(self, operation=ENCODE, packed=packed,
                                           **{**self._limits, "reuse": False})
        return self._pool[packed]


# ---- parts ----

def _text(text, index):
    if not isinstance(text, str):
        raise TypeError(f"texts[{index}] is no str but {type(text).__name__}")
    return text


def _settings_of(core, config):
    info = json.loads(core.describe())
    return _Settings(info["class"]["used"] or "", config, core)


def _from_parts(cls, parts, config):
    name, pipeline, templates, by_name, special, *rest = parts
    core = native.Model.from_parts(utf8(name), pipeline, _all_utf8(templates), by_name,
                                   _all_utf8(special), *rest)
    return cls(core, (_from_parts, (cls, parts, config)), _Settings(parts[5], config, core))


def _all_utf8(pairs):
    return [(utf8(name), utf8(text)) for name, text in pairs]


def _load_again(cls, name, revision, cache_dir, compat):
    return cls.from_pretrained(name, revision=revision, cache_dir=cache_dir, compat=compat)


def _options_again(model, options):
    return model.with_options(**options)


def _built_in_again(cls):
    return cls.built_in()


def _conversations(conversation):
    """([conversation, ...], whether several were given)"""
    if isinstance(conversation, (list, tuple)):
        if not conversation:
            raise InputError("there are no messages: at least one is needed")
        first = conversation[0]
        if isinstance(first, (list, tuple)) or hasattr(first, "messages"):
            return list(conversation), True
    return [conversation], False


def _messages(conversation):
    messages = getattr(conversation, "messages", conversation)
    if isinstance(messages, (list, tuple, str, dict)) or not hasattr(messages, "__iter__"):
        return messages
    return list(messages)


def _request(conversation, tools, documents, chat_template, add_generation_prompt,
             continue_final_message, sanitize, mask, kwargs):
    """The request (docs/cli.md) for these arguments; what is not given is left out."""
    request = {"messages": _messages(conversation),
               "add_generation_prompt": add_generation_prompt,
               "continue_final_message": continue_final_message}
    if request["messages"] is None:
        raise InputError("messages is None")
    if tools is not None:
        request["tools"] = tools_of(tools)
    if documents is not None:
        request["documents"] = documents
    if chat_template is not None:
        request["chat_template"] = chat_template
    if sanitize:
        request["sanitize_control_tokens"] = True
    if mask:
        request["return_assistant_tokens_mask"] = True
    if kwargs:
        request["chat_template_kwargs"] = kwargs
    return request


def _returned(data, batched, return_tensors, return_dict):
    if return_tensors is not None:
        data = as_tensors(data, return_tensors)
    elif not batched:
        data = {name: value[0] for name, value in data.items()}
    return batch_encoding(data) if return_dict else data["input_ids"]
