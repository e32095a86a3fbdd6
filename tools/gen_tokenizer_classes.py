#!/usr/bin/env python3
"""Asks the installed transformers what each tokenizer class builds and which class a model type
has, and writes the tables of src/chat. Run it with the reference Python when that changes:

    python3 tools/gen_tokenizer_classes.py types > src/chat/model_types.def
    python3 tools/gen_tokenizer_classes.py classes > src/chat/class_rules.def
    python3 tools/gen_tokenizer_classes.py languages > src/chat/whisper_languages.def

How: each class loads small model directories whose tokens all differ, with every value of each
option that it takes; what its backend then consists of is written down, with the tokens' texts
replaced by @name@ and the Precompiled normalizer's table by @charsmap@. Where a class picks the
unknown piece of a Unigram vocabulary cannot be seen from outside, so UNKNOWN states it and the
conformance tests prove it."""
import base64
import inspect
import itertools
import json
import os
import re
import struct
import sys
import tempfile
import warnings
from pathlib import Path

os.environ["TRANSFORMERS_VERBOSITY"] = "critical"
os.environ["HF_HUB_OFFLINE"] = "1"
warnings.simplefilter("ignore")
import transformers  # noqa: E402
from transformers import AddedToken, TokenizersBackend  # noqa: E402
from transformers.models.auto import tokenization_auto as auto  # noqa: E402
from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES  # noqa: E402

STANDARD = ["bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token",
            "mask_token"]
OPTIONS = ["add_prefix_space", "legacy", "do_lower_case", "keep_accents", "split_by_punct",
           "tokenize_chinese_chars", "strip_accents", "clean_text", "remove_space",
           "legacy_behaviour", "predict_timestamps"]
# FIXED n; OPTION n: the option unk_id, n when it is not set; SCORED n: the entry (unk_token, 0.0),
# else n, -1 is an error; SCORED_OPTION: both; TEXT n: the first entry of that text, else n
UNKNOWN = {
    "AlbertTokenizer": "FIXED 1", "RemBertTokenizer": "FIXED 2", "XLNetTokenizer": "OPTION 0",
    "BarthezTokenizer": "FIXED 3", "DebertaV2Tokenizer": "SCORED_OPTION 1",
    "BigBirdTokenizer": "SCORED 100", "CamembertTokenizer": "TEXT 0",
    "XLMRobertaTokenizer": "FIXED 3", "XGLMTokenizer": "FIXED 3", "LayoutXLMTokenizer": "FIXED 3",
    "MBartTokenizer": "FIXED 3", "MBart50Tokenizer": "FIXED 3", "MLukeTokenizer": "FIXED 0",
    "PegasusTokenizer": "SCORED -1", "T5Tokenizer": "FIXED 2", "LasrTokenizer": "FIXED 3",
    "VideoPrismTokenizer": "FIXED 2", "UdopTokenizer": "TEXT 2",
}
WORDS = "its input is word lists, not text"
CUTTER = "it cuts texts with the Python package rjieba, whose words of Chinese are not here"
REFUSED = {
    "UdopTokenizer": WORDS, "LayoutLMv2Tokenizer": WORDS, "LayoutLMv3Tokenizer": WORDS,
    "LayoutXLMTokenizer": WORDS, "RoFormerTokenizer": CUTTER,
}
# Texts are cut by str.split() before the backend sees them, whatever added tokens hold.
CUT_FIRST = {"MarkupLMTokenizer": {"type": "Split", "pattern": {"Regex": "[\\s\\x1C-\\x1F]+"},
                                   "behavior": "Removed", "invert": False}}
LANGUAGES = {  # option, its default, what stands around it in the token
    "MBartTokenizer": ("src_lang", "en_XX", ""),
    "MBart50Tokenizer": ("src_lang", "en_XX", ""),
    "NllbTokenizer": ("src_lang", "eng_Latn", ""),
    "SeamlessM4TTokenizer": ("src_lang", "eng", "__"),
}
NEEDED = {"MarkupLMTokenizer": {"tags_dict": {"a": 0}}}  # options that have no default
# Its vocabulary is fixed, so tokens of our own cannot show what goes where.
FIXED = {"EsmcTokenizer": {"unk_token": "@unk_token@", "post": "cls_token A eos_token"}}
UNSET_BOS = {"EsmcTokenizer": "cls_token"}  # what is taken for it
CHARSMAP = base64.b64encode(struct.pack("<I", 1024) + bytes(1024) + b"\0").decode()
FILLERS = 200


def fast_classes():
    """Names of the classes over the tokenizers library that the package exports."""
    out = []
    for name in dir(transformers):
        if not name.endswith("Tokenizer"):
            continue
        try:
            c = getattr(transformers, name)
        except Exception:  # noqa: BLE001 - a class whose own package is missing
            continue
        if isinstance(c, type) and issubclass(c, TokenizersBackend) and c is not TokenizersBackend \
                and c.__name__ == name:
            out.append(name)
    return out


def parameters(cls):
    """The keyword parameters of a class and of those it passes others on to."""
    out = {}
    for c in cls.__mro__:
        if c is TokenizersBackend:
            break
        if "__init__" in c.__dict__:
            for name, p in inspect.signature(c.__init__).parameters.items():
                if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL) and name != "self":
                    out.setdefault(name, p.default)
    return out


class Probe:
    def __init__(self, name, folder):
        self.cls = getattr(transformers, name)
        self.name, self.folder = name, Path(folder)
        self.language = "de_DE" if name == "MBart50Tokenizer" else "piece9"
        more = [p for p in parameters(self.cls) if p.endswith("_token") and p not in STANDARD
                and not p.startswith("add_")]
        self.names = [] if name in FIXED else STANDARD + more

    def load(self, config, charsmap=False, has_post=True, special_map=None, more=(".",)):
        kind = getattr(self.cls.model, "__name__", None)
        if kind is None:
            kind = "WordPiece" if "Former" in self.name else "Unigram"
        pieces = [f"piece{i}" for i in range(FILLERS)] + [f"given-{n}" for n in self.names]
        pieces += ["de_DE", "<|startoftranscript|>", "<|notimestamps|>", *more]
        if kind == "Unigram":  # some pieces must be found
            pieces = ["first", *pieces, "<unk>", "[UNK]", "[CLS]", "[SEP]"]
            model = {"type": kind, "unk_id": 0, "vocab": [[p, 0.0] for p in pieces]}
        else:
            model = {"type": kind, "vocab": {p: i for i, p in enumerate(pieces)}}
            model |= {"merges": []} if kind == "BPE" else \
                {"unk_token": "piece0", "continuing_subword_prefix": "@",
                 "max_input_chars_per_word": 7}
        normalizer = {"type": "Precompiled", "precompiled_charsmap": CHARSMAP}
        a, b = ({"Sequence": {"id": i, "type_id": n}} for n, i in enumerate("AB"))
        post = {"type": "TemplateProcessing", "pair": [a, b],
                "single": [{"SpecialToken": {"id": "piece7", "type_id": 0}}, a],
                "special_tokens": {"piece7": {"id": "piece7", "ids": [7], "tokens": ["piece7"]}}}
        file = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": [],
                "normalizer": normalizer if charsmap else None, "pre_tokenizer": None,
                "post_processor": post if has_post else None, "decoder": None, "model": model}
        (self.folder / "tokenizer.json").write_text(json.dumps(file))
        (self.folder / "tokenizer_config.json").write_text(json.dumps(config))
        map_file = self.folder / "special_tokens_map.json"
        map_file.unlink(missing_ok=True)
        if special_map is not None:
            map_file.write_text(json.dumps(special_map))
        return self.cls.from_pretrained(str(self.folder))

    def given(self, names=None):
        own = {n: f"given-{n}" for n in self.names if names is None or n in names} | \
            NEEDED.get(self.name, {})
        if self.name in LANGUAGES:
            own[LANGUAGES[self.name][0]] = self.language
        return own

    def parts(self, options, charsmap):
        """Normalizer, pre-tokenizer, decoder, post-processor (with one in the file, without),
        model; None: an error."""
        try:
            tok = self.load(self.given() | options, charsmap)
            plain = self.load(self.given() | options, charsmap, has_post=False)
        except Exception:  # noqa: BLE001 - the class refuses that value
            return None
        text = tok.backend_tokenizer.to_str()
        state = json.loads(text)
        model = state["model"]
        if len(model["vocab"]) == len(tok.backend_tokenizer.get_vocab(False)) and \
                any("piece9" in (p if isinstance(p, str) else p[0]) for p in model["vocab"]):
            del model["vocab"]
        model.pop("merges", None)
        if self.name in CUT_FIRST:
            state["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [
                CUT_FIRST[self.name], state["pre_tokenizer"]]}
        if model["type"] == "Unigram":
            model.pop("unk_id", None)
        post, post_null = (FIXED[self.name]["post"],) * 2 if self.name in FIXED else \
            (self.unset(self.post(tok), options, True),
             self.unset(self.post(plain), options, False))
        if self.name in FIXED:
            model["unk_token"] = FIXED[self.name]["unk_token"]

        def spell(part):
            out = json.dumps(part, ensure_ascii=True, separators=(",", ":"))
            out = out.replace(CHARSMAP, "@charsmap@")
            return re.sub(r"given-(\w+)", r"@\1@", out)
        return tuple(spell(state[k]) for k in ("normalizer", "pre_tokenizer", "decoder")) + \
            (post, post_null, spell(model))

    def unset(self, words, options, has_post):
        """The words with what stands for a named token that is not set: "=unk", the token None or
        the unknown one; "=2" that id, of one token None; "=#2" the id alone; "=file", the whole is
        the file's own. Nothing: it must be set."""
        if self.name in REFUSED or words in ("A", "json"):
            return words
        out = []
        for at, word in enumerate(words.split(" ")):
            if word not in STANDARD:
                out.append(word)
                continue
            try:
                tok = self.load(self.given() | options | {word: None}, has_post=has_post,
                                more=(".", "None"))
            except Exception:  # noqa: BLE001 - it must be set
                out.append(word)
                continue
            state = json.loads(tok.backend_tokenizer.to_str())["post_processor"] or {"single": []}
            vocab = tok.backend_tokenizer.get_vocab(True)
            if "cls" in state:
                out.append(f"{word}=#{state['cls' if at == 0 else 'sep'][1]}")
                continue
            items = [i.get("SpecialToken", {}).get("id") for i in state["single"]]
            if len(items) != len(words.split(" ")) or "piece7" in items:
                out.append(f"{word}=file")
                continue
            token_id = state["special_tokens"][items[at]]["ids"][0]
            out.append(f"{word}=unk" if token_id == vocab["None"] else f"{word}={token_id}")
        return " ".join(out)

    def post(self, tok):
        """What stands around the text, as words; "json": the file's own."""
        if self.name not in REFUSED:
            tok("x")  # some set it at the call
        state = json.loads(tok.backend_tokenizer.to_str())["post_processor"]
        if state is None or state["type"] == "ByteLevel":  # which changes no ids
            return "A"
        if state["type"] in ("BertProcessing", "RobertaProcessing"):
            cls, sep = state["cls"], state["sep"]
            state = {"single": [{"SpecialToken": {"id": cls[0]}}, {"Sequence": {}},
                                {"SpecialToken": {"id": sep[0]}}],
                     "special_tokens": {t[0]: {"ids": [t[1]]} for t in (cls, sep)}}
        elif state["type"] != "TemplateProcessing":
            raise ValueError(state)
        words = []
        vocab = tok.backend_tokenizer.get_vocab(True)
        by_id = {vocab[f"given-{n}"]: n for n in self.names if f"given-{n}" in vocab}
        if self.name in LANGUAGES:
            wrap = LANGUAGES[self.name][2]
            token = wrap + self.language + wrap
            by_id[vocab.get(token, vocab["given-unk_token"])] = "language"
        for item in state["single"]:
            if "Sequence" in item:
                words.append("A")
                continue
            text = item["SpecialToken"]["id"]
            token_id = state["special_tokens"][text]["ids"][0]
            if text == "piece7":
                return "json"
            if text.startswith("<|"):
                words.append(text)
            else:
                word = by_id.get(token_id, f"#{token_id}")
                words.append(word + "?" if "add_bos_token" in parameters(self.cls) else word)
        return " ".join(words)

    def options(self):
        """Options that change a part: (name, values, the default's index, null's index or -1)."""
        out, has = [], parameters(self.cls)
        maps = [m for m in (False, True) if self.parts({}, m) is not None]
        # some options show only together with another
        contexts = [{}] + [{o: v} for o in OPTIONS if o in has for v in (True, False)]
        for name in (o for o in OPTIONS if o in has):
            def shown(value, name=name):
                own = {} if value == "absent" else {name: value}
                return [self.parts(c | own, m) for c in contexts for m in maps if name not in c]
            yes, no, null, absent = (shown(v) for v in (True, False, None, "absent"))
            if yes == no == null == absent:
                continue
            values = [False, True]
            null_at = 0 if null == no else 1 if null == yes else -1
            if null_at < 0 and any(p is not None for p in null):
                values.append(None)
                null_at = 2
            default = 0 if absent == no else 1 if absent == yes else null_at
            out.append((name, values, default, null_at))
        return out

    def tokens(self):
        """Named tokens: (name, default text, its flags, flags of a text given in a config)."""
        try:
            plain = self.load(NEEDED.get(self.name, {}))._special_tokens_map
        except Exception:  # noqa: BLE001
            plain = {}
        given = self.load(self.given())._special_tokens_map
        names = list(dict.fromkeys([*plain, *given]))
        out = []
        for n in names:
            d, g = plain.get(n), given.get(n)
            if n == "bos_token" and self.name in UNSET_BOS:
                continue
            if d is not None or (g is not None and flags(g) != "TD_TOKEN_TEXT"):
                own = "0" if d is None else flags(d)
                if n not in STANDARD and self.is_needed(n):
                    own += " | TD_TOKEN_NEEDED"
                if n in self.names and d is not None and g is not None and str(g) == str(d):
                    own += " | TD_TOKEN_KEPT"
                out.append((n, None if d is None else str(d), own,
                            "TD_TOKEN_TEXT" if g is None else flags(g)))
        return out

    def extra_list(self, config, special_map=None):
        tok = self.load(self.given() | config, special_map=special_map)
        return [str(t) for t in tok._extra_special_tokens]

    def extra(self):
        """Extra tokens of the class, and what becomes of them when files have some."""
        own = self.load(self.given())._extra_special_tokens
        own_text = [str(t) for t in own]

        def how(tokens):
            return {("zzz",): "REPLACED", ("zzz", *own_text): "BEHIND",
                    (*own_text, "zzz"): "BEFORE"}.get(tuple(tokens), "REFUSED")
        extra = "REPLACED" if not own else how(self.extra_list({"extra_special_tokens": ["zzz"]}))
        given = self.extra_list({}, {"additional_special_tokens": ["zzz"]})
        more = how(given) if own else "REPLACED" if "zzz" in given else "IGNORED"
        merges = "yyy" in self.extra_list({"extra_special_tokens": ["zzz"],
                                           "additional_special_tokens": ["yyy"]})
        keeps = own != [] and self.extra_list({"extra_special_tokens": None}) == own_text
        if self.name == "MBart50Tokenizer":  # its list then names them, and its backend lacks them
            extra, keeps = "REPLACED", False
        absent = "zzz" in self.extra_list({"extra_special_tokens": None},
                                          {"additional_special_tokens": ["zzz"]})
        return [(str(t), flags(t)) for t in own], extra, more, merges, keeps, absent

    def needed(self):
        """Bits of the standard tokens that cannot be null."""
        return sum(1 << i for i, name in enumerate(STANDARD) if name in self.names and
                   self.is_needed(name))

    def is_needed(self, name):
        """Whether that token cannot be null, not even where the vocabulary has a token None."""
        for more in ((".",), (".", "None")):
            try:
                self.load(self.given(STANDARD) | {name: None}, more=more)
                return False
            except Exception:  # noqa: BLE001
                pass
        return True

    def pair_words(self, named):
        """Texts that must be tokens, or else the unknown one be set, for pairs of texts."""
        try:
            self.load(self.given(STANDARD) | {"unk_token": None})
        except Exception:  # noqa: BLE001
            return None
        try:
            self.load(self.given(STANDARD) | {"unk_token": None}, more=())
        except Exception:  # noqa: BLE001
            return " ".join([".", *(text for _, text, own, _ in named if "KEPT" in own)])
        return None

    def without_unknown(self):
        """How the model spells an unknown token that is not set."""
        if self.name in FIXED:
            return "TD_UNSET_NONE"
        if "unk_token" not in self.names or "__init__" not in self.cls.__dict__:
            return "TD_UNSET_NULL"
        try:
            tok = self.load(self.given(STANDARD) | {"unk_token": None})
        except Exception:  # noqa: BLE001 - it must be set
            return "TD_UNSET_REFUSED"
        text = json.loads(tok.backend_tokenizer.to_str())["model"].get("unk_token")
        return "TD_UNSET_NULL" if text is None else f"TD_UNSET_{text.upper()}"


    def early_post(self):
        """Whether the class makes its template before tokens are added to the vocabulary."""
        if self.name in FIXED:
            return False
        try:
            self.load(self.given() | {"cls_token": "absent"})
        except Exception:  # noqa: BLE001
            return True
        return False


def flags(token):
    if isinstance(token, str):
        return "TD_TOKEN_TEXT"
    assert isinstance(token, AddedToken)
    known = ("special", "normalized", "lstrip", "rstrip", "single_word")
    names = ["TD_TOKEN_" + n.upper() for n in known if getattr(token, n)]
    return " | ".join(names) or "0"


def c_string(text):
    out = "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\?' else "\\%03o" % b
                  for b in text.encode())
    return '"%s"' % out


def resets(cls):
    """Which named tokens the class adds again at its end."""
    own = inspect.getsource(cls.__init__) if "__init__" in cls.__dict__ else ""
    if "for token in self.all_special_tokens" in own:
        return "RESET_ALL"
    post = "_post_init" in cls.__dict__ or "self._post_init()" in own or \
        "super()._post_init()" in own
    return "RESET_TEXTS" if post and cls.__name__ != "MBart50Tokenizer" else "RESET_NONE"


class Texts:
    def __init__(self):
        self.numbers = {}

    def number(self, text):
        return self.numbers.setdefault(text, len(self.numbers))


def files_of(cls):
    """Which files the class looks for beside tokenizer.json."""
    names = cls.vocab_files_names
    if names.get("vocab_file") == "vocab.json" and names.get("merges_file") == "merges.txt":
        return "FILES_BPE"
    return "FILES_VOCAB_TXT" if names.get("vocab_file") == "vocab.txt" else "FILES_NONE"


def pieces_file(cls):
    """The class's own name for a SentencePiece model, as a C string."""
    name = cls.vocab_files_names.get("vocab_file") or ""
    return c_string(name) if name.endswith(".model") else "NULL"


def write_class(name, folder, texts, rules):
    probe = Probe(name, folder)
    cls = probe.cls
    own_init = "__init__" in cls.__dict__
    options, rows = probe.options(), []
    for charsmap in (False, True):
        for values in itertools.product(*(o[1] for o in options)):
            chosen = {o[0]: v for o, v in zip(options, values)}
            parts = probe.parts(chosen, charsmap)
            rows.append(parts)
    models = {r[5] for r in rows if r is not None}
    assert len(models) == 1, models
    if not any(a != b for a, b in zip(rows[:len(rows) // 2], rows[len(rows) // 2:])):
        rows = rows[:len(rows) // 2]
        takes_map = 0
    else:
        takes_map = 1
    if not own_init:  # the whole file stays; only the post-processor may be the class's
        rows = [rows[0]]
        options, takes_map = [], 0
    if name == "GPTNeoXTokenizer":
        assert all(r[3] == r[4] == "A" for r in rows)
    model = json.loads(models.pop())
    named, (extra, how, more, merges, keeps, absent) = probe.tokens(), probe.extra()
    kind = model["type"]
    ident = name.removesuffix("Tokenizer")
    print(f"static const td_class_named {ident}_named[] = {{")
    for n, text, own, given in named:
        shown = "NULL" if text is None else c_string(text)
        print(f'    {{ "{n}", {shown}, {own}, {given} }},')
    print("    { NULL, NULL, 0, 0 },\n};")
    print(f"static const td_class_extra {ident}_extra[] = {{")
    for text, own in extra:
        print(f"    {{ {c_string(text)}, {own} }},")
    print("    { NULL, 0 },\n};")
    print(f"static const td_class_option {ident}_options[] = {{")
    for o, values, default, null_at in options:
        print(f'    {{ "{o}", {len(values)}, {default}, {null_at} }},')
    print("    { NULL, 0, 0, 0 },\n};")
    print(f"static const td_class_parts {ident}_parts[] = {{")
    for r in rows:
        cells = ", ".join("TD_NO_PARTS" if r is None else str(texts.number(t))
                          for t in (r[:5] if r else [None] * 5))
        print(f"    {{ {cells} }},")
    print("};")
    unknown = UNKNOWN.get(name, "FIXED 0").split()
    own_vocab = json.dumps(model.pop("vocab"), separators=(",", ":")) if "vocab" in model else None
    language = LANGUAGES.get(name)
    fields = {
        "name": c_string(name), "kind": f"TD_KIND_{kind.upper()}",
        "named": f"{ident}_named", "extra": f"{ident}_extra", "options": f"{ident}_options",
        "parts": f"{ident}_parts", "model": c_string(json.dumps(model, separators=(",", ":"))),
        "unknown": f"TD_UNKNOWN_{unknown[0]}", "unknown_at": unknown[1],
        "rebuilds": str(own_init).lower(),
        "takes_charsmap": str(bool(takes_map)).lower(), "extra_how": f"TD_EXTRA_{how}",
        "additional_how": f"TD_EXTRA_{more}", "unset_unknown": probe.without_unknown(),
        "resets": f"TD_{resets(cls)}", "files": f"TD_{files_of(cls)}",
        "pieces_file": pieces_file(cls), "needed": probe.needed(),
    }
    for field, value in (("merges_lists", merges), ("null_keeps_extra", keeps),
                         ("null_is_absent", absent), ("any_kind", cls.model is None),
                         ("early_post", probe.early_post()), ("needs_tags", name in NEEDED)):
        if value:
            fields[field] = "true"
    for field, value in (("vocabulary", own_vocab), ("pair_words", probe.pair_words(named))):
        if value is not None:
            fields[field] = c_string(value)
    if name in UNSET_BOS:
        fields["unset_bos"] = c_string(UNSET_BOS[name])
    if language:
        fields |= dict(zip(("language", "language_default", "language_wrap"),
                           map(c_string, language)))
    if name == "MBart50Tokenizer":
        fields |= {"rearranges": "true", "strict_language": "true"}
    if name in REFUSED:
        assert REFUSED[name] == WORDS
        fields["words_only"] = "true"
    rules.append("{ " + ", ".join(f".{k} = {v}" for k, v in fields.items()) + " }")


def write_classes():
    print(f"/* Generated by tools/gen_tokenizer_classes.py from transformers "
          f"{transformers.__version__}: what each tokenizer class builds. */\n")
    texts, rules = Texts(), []
    only = sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        for name in only or fast_classes():
            try:
                write_class(name, folder, texts, rules)
            except Exception as e:  # noqa: BLE001
                if name not in REFUSED:
                    raise
                print(f"{name}: {e}", file=sys.stderr)
                fields = f".name = {c_string(name)}, .refused = {c_string(REFUSED[name])}"
                rules.append("{ " + fields + " }")
    print("static const char *const texts[] = {")
    for text in texts.numbers:
        print(f"    {c_string(text)},")
    print("};\n")
    print("static const td_class_rule rules[] = {")
    for rule in rules:
        print(f"    {rule},")
    print("};")


def write_types():
    print(f"/* Generated by tools/gen_tokenizer_classes.py from transformers "
          f"{transformers.__version__}: each model type.\n *\n"
          " * TYPE(model type, class of the type, registered class, the name in a config is not\n"
          " *      believed, the type has a config class); \"-\" is none. */\n")
    mapping = {}
    for config, tok in auto.TOKENIZER_MAPPING.items():
        mapping[config.__name__] = tok.__name__ if tok is not None else "-"
    registered = auto.TOKENIZER_MAPPING_NAMES
    wrong = auto.MODELS_WITH_INCORRECT_HUB_TOKENIZER_CLASS
    for t in sorted({*registered, *CONFIG_MAPPING_NAMES, *wrong}):
        own = mapping.get(CONFIG_MAPPING_NAMES.get(t), "-")
        reg = registered.get(t) or "-"
        print(f'TYPE("{t}", "{own}", "{reg.removesuffix("Fast")}", {int(t in wrong)}, '
              f"{int(t in CONFIG_MAPPING_NAMES)})")


def write_languages():
    from transformers.models.whisper import tokenization_whisper as whisper
    print(f"/* Generated by tools/gen_tokenizer_classes.py from transformers "
          f"{transformers.__version__}: names and\n"
          " * codes of Whisper's languages, and the place of each. */")
    order = list(whisper.LANGUAGES)
    for name, code in [*whisper.TO_LANGUAGE_CODE.items(), *((c, c) for c in order)]:
        print(f'LANGUAGE("{name}", {order.index(code)})')


if __name__ == "__main__":
    {"types": write_types, "classes": write_classes,
     "languages": write_languages}[sys.argv[1]]()
