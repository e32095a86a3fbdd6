"""Model directories for comparing AutoTokenizer's rules: small trained tokenizers, and cases of
(tokenizer, files beside it, changes to tokenizer.json)."""
import copy
import functools
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from charsmap import precompiled  # noqa: E402

TEXTS = [
    "", " ", "Hello world", " two  spaces ", "a\n\nb 123 4567", "it's I'LL we'Re", "don't . stop , ? !",
    "<s>a</s> <unk><pad> <mask> x", "<a>x<b> y <c>z", "[CLS] q [SEP] [UNK][PAD] [MASK]", "<|endoftext|>x",
    "<extra_id_0> y <extra_id_99>", "na\u00efve caf\u00e9 e\u0301\u00e9 \ufb01 \u00c5", "\u65e5\u672c\u8a9e \u4e2d\u6587 \U0001f642",
    "\u2581x \u2581\u2581 y", "``quoted'' \"q\"", "tab\there\r\nline", "ABC Def gHI", "en_XX eng_Latn __fra__ x",
    "x<im>y <au> <|startoftranscript|>", "\u0130\u00df \u1e9e \u01c5", "a" * 40, "\x00\ufffd\u200b z", "end \n",
    "a\x1cb\x1f\x85c\u2028d\u00a0e\u180ef\x0bg <mask>\x1d<mask> x<m>\u3000",
]
CORPUS = [
    "the quick brown fox jumps over the lazy dog", "Hello world, it's a small world 123 456 7890",
    "don't stop me now, we'll see", "na\u00efve caf\u00e9 and r\u00e9sum\u00e9", "def f(x):\n    return x + 1\n",
    "\u65e5\u672c\u8a9e\u306e\u30c6\u30ad\u30b9\u30c8 \u4e2d\u6587 \u6587\u672c", "ABC Def ghi JKL", "a b c d e f g h i j k l m n o p q r s t u v w x y z",
    "two spaces , and . some ? punctuation !",
] * 3


def added(text, **flags):
    return {"content": text, "lstrip": False, "rstrip": False, "normalized": False,
            "single_word": False, "special": True, **flags}


@functools.cache
def tokenizers_():
    """The base tokenizers by name, as parsed tokenizer.json files."""
    import tokenizers as tk
    from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    out = {}

    def done(name, t):
        out[name] = json.loads(t.to_str())

    t = tk.Tokenizer(models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    t.decoder = decoders.ByteLevel()
    t.train_from_iterator(CORPUS, trainers.BpeTrainer(
        vocab_size=420, initial_alphabet=alphabet, show_progress=False,
        special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<|endoftext|>", "<|startoftext|>"]))
    t.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)])
    done("bytes", t)

    t = tk.Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    t.normalizer = normalizers.Sequence([normalizers.Prepend("\u2581"), normalizers.Replace(" ", "\u2581")])
    t.decoder = decoders.Sequence([decoders.Replace("\u2581", " "), decoders.ByteFallback(),
                                   decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    t.train_from_iterator(CORPUS, trainers.BpeTrainer(
        vocab_size=500, show_progress=False, special_tokens=["<unk>", "<s>", "</s>"] +
        [f"<0x{i:02X}>" for i in range(256)]))
    state = json.loads(t.to_str())
    state["added_tokens"] = state["added_tokens"][:3]
    state["post_processor"] = json.loads(processors.TemplateProcessing(
        single="<s> $A", pair="<s> $A $B", special_tokens=[("<s>", 1)]).__getstate__())
    out["pieces"] = state

    t = tk.Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    t.normalizer = normalizers.Lowercase()
    t.pre_tokenizer = pre_tokenizers.Whitespace()
    t.decoder = decoders.BPEDecoder(suffix="</w>")
    t.train_from_iterator(CORPUS, trainers.BpeTrainer(
        vocab_size=300, show_progress=False, end_of_word_suffix="</w>",
        special_tokens=["<pad>", "<unk>", "<s>", "</s>", "<mask>"]))
    done("words", t)

    t = tk.Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(lowercase=False)
    t.pre_tokenizer = pre_tokenizers.Whitespace()
    t.decoder = decoders.WordPiece(cleanup=False)
    t.train_from_iterator(CORPUS, trainers.WordPieceTrainer(
        vocab_size=250, show_progress=False,
        special_tokens=["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "<s>", "</s>", "<unk>", "<pad>"]))
    done("wordpiece", t)

    t = tk.Tokenizer(models.Unigram())
    t.pre_tokenizer = pre_tokenizers.Metaspace()
    t.decoder = decoders.Metaspace()
    t.train_from_iterator(CORPUS, trainers.UnigramTrainer(
        vocab_size=180, show_progress=False, unk_token="<unk>",
        special_tokens=["<s>", "<pad>", "</s>", "<unk>", "[CLS]", "[SEP]", "[UNK]"]))
    done("unigram", t)
    other = copy.deepcopy(out["unigram"])
    other["model"]["vocab"] = other["model"]["vocab"][3:] + other["model"]["vocab"][:3]
    other["model"]["unk_id"] = 0
    for token in other["added_tokens"]:
        token["id"] = (token["id"] - 3) % len(other["model"]["vocab"])
    out["unigram-moved"] = other
    return out


BPE = ["Llama", "CodeLlama", "Gemma", "Siglip2", "Tipsv2", "GPT2", "CodeGen", "GPTNeoX", "Qwen2",
       "Qwen3_5", "Cohere", "Whisper", "Roberta", "Blenderbot", "Deberta", "Luke", "Nougat", "CLIP",
       "OpenAIGPT", "Herbert", "Nllb", "SeamlessM4T", "Reformer", "Esmc"]
WORDPIECE = ["Bert", "DistilBert", "DPRContextEncoder", "DPRQuestionEncoder", "DPRReader", "Splinter",
             "Funnel", "MPNet", "ConvBert"]
UNIGRAM = ["Albert", "RemBert", "XLNet", "Barthez", "DebertaV2", "BigBird", "Camembert", "XLMRoberta",
           "XGLM", "MBart", "MBart50", "MLuke", "Pegasus", "T5", "Lasr", "VideoPrism", "FNet",
           "Parakeet"]
OPTIONS = {
    "add_prefix_space": ["Llama", "CodeLlama", "GPT2", "CodeGen", "GPTNeoX", "Qwen2", "Qwen3_5", "Cohere",
                         "Whisper", "Roberta", "Blenderbot", "Deberta", "Luke", "Albert", "RemBert",
                         "Barthez", "DebertaV2", "BigBird", "Camembert", "XLMRoberta", "XGLM"],
    "do_lower_case": ["Bert", "DistilBert", "DPRReader", "Splinter", "Funnel", "MPNet", "Albert", "RemBert",
                      "XLNet", "DebertaV2", "Tipsv2"],
    "keep_accents": ["Albert", "RemBert", "XLNet"],
    "strip_accents": ["Bert", "Funnel", "MPNet"],
    "tokenize_chinese_chars": ["Bert", "DistilBert", "Splinter"],
    "legacy": ["Llama"], "split_by_punct": ["DebertaV2"], "clean_text": ["Funnel"],
    "legacy_behaviour": ["Nllb"], "predict_timestamps": ["Whisper"], "remove_space": ["RemBert", "XLNet"],
}
PYTHON = ["ByT5", "Canine", "CTRL", "Marian", "M2M100", "Bertweet", "BioGpt", "Esm", "FSMT", "Phobert",
          "XLM", "Wav2Vec2CTC", "Siglip", "GPTSw3", "BertGeneration", "Speech2Text", "RoFormer"]
WORD_LISTS = {"LayoutLMv2": "wordpiece", "LayoutLMv3": "bytes", "LayoutXLM": "unigram", "Udop": "unigram"}


def base_of(name):
    if name in WORDPIECE:
        return "wordpiece"
    if name in UNIGRAM:
        return "unigram"
    if name in ("OpenAIGPT", "Herbert", "CLIP"):
        return "words"
    return "pieces" if name in ("Llama", "CodeLlama", "Gemma", "Siglip2", "Tipsv2", "Nllb", "SeamlessM4T",
                                "Reformer") else "bytes"


def named(name):
    return {"tokenizer_class": name + "Tokenizer"}


def case(base, config=None, tokenizer=None, **files):
    out = {k.replace("__", "."): v for k, v in files.items()}
    if config is not None:
        out["tokenizer_config.json"] = config
    return {"base": base, "files": out, "tokenizer": tokenizer or {}}


def classes():
    for name in BPE + WORDPIECE + UNIGRAM:
        base = base_of(name)
        yield f"class-{name}", case(base, named(name))
        yield f"class-{name}-null-post", case(base, named(name), {"post_processor": None})
        others = {"bytes": ["pieces"], "pieces": ["bytes"], "words": ["bytes"], "wordpiece": ["words"],
                  "unigram": ["unigram-moved", "bytes"]}[base]
        for other in others:
            yield f"class-{name}-over-{other}", case(other, named(name))
    for name in ("GPT2", "Llama", "Bert", "Qwen2", "Gemma"):
        yield f"class-{name}-over-unigram", case("unigram", named(name))
    for option, names in OPTIONS.items():
        for name in names:
            for value in (True, False):
                yield (f"option-{name}-{option}-{value}",
                       case(base_of(name), named(name) | {option: value}))
    yield "option-strip_accents-null", case("wordpiece", named("Bert") | {"strip_accents": None})
    yield "option-null-prefix", case("bytes", named("GPT2") | {"add_prefix_space": None})
    for legacy in (True, False):
        yield (f"option-llama-no-prefix-legacy-{legacy}",
               case("pieces", named("Llama") | {"legacy": legacy, "add_prefix_space": False}))
    for name, key, value in (("MBart", "src_lang", "de_DE"), ("MBart50", "src_lang", "de_DE"),
                             ("MBart50", "src_lang", "nope"), ("Nllb", "src_lang", "fra_Latn"),
                             ("SeamlessM4T", "src_lang", "deu"), ("SeamlessM4T", "src_lang", "__fra__"),
                             ("XLNet", "unk_id", 3), ("DebertaV2", "unk_id", 2)):
        yield f"option-{name}-{key}-{value}", case(base_of(name), named(name) | {key: value})
    for name in PYTHON:
        yield f"python-{name}", case("bytes", named(name))


def speech():
    """Language and task of Whisper, over files that have the tokens, a part of them, or none."""
    from transformers.models.whisper.tokenization_whisper import LANGUAGES
    tokens = ["<|startoftranscript|>", *(f"<|{c}|>" for c in LANGUAGES), "<|translate|>", "<|transcribe|>",
              "<|startoflm|>", "<|startofprev|>", "<|nocaptions|>", "<|notimestamps|>"]
    whisper = named("Whisper")
    for key, extra in {"all": tokens, "some": ["<|notimestamps|>", *tokens[:3]], "none": []}.items():
        for at, options in enumerate((
                {}, {"language": "en"}, {"language": "French"}, {"language": "de", "task": "transcribe"},
                {"task": "translate"}, {"language": "castilian", "task": "translate", "predict_timestamps": True},
                {"language": "zh", "predict_timestamps": True}, {"language": "YUE"}, {"language": None, "task": None},
                {"language": "\u212aorean"})):
            yield (f"speech-{key}-{at}",
                   case("bytes", whisper | options | {"extra_special_tokens": extra}))
    for at, options in enumerate(({"language": "xx"}, {"language": ""}, {"language": 5}, {"task": "bad"},
                                  {"task": 1}, {"task": "Translate"}, {"language": ["en"]})):
        yield f"speech-refused-{at}", case("bytes", whisper | options)


def pegasus():
    pegasus = named("Pegasus")
    for offset in (0, 1, 2, 3, 7, 103, 150, -1, True, None, "3", 2.0):
        yield f"pegasus-{offset!r}", case("unigram", pegasus | {"offset": offset})
    for mask in ("<mask_1>", "<b>", None, ["<b>"], 5):
        yield f"pegasus-mask-{mask}", case("unigram", pegasus | {"mask_token_sent": mask, "offset": 4})
    for lists in (["<a>"], ["<mask_1>"], ["<unk_2>", "<mask_1>", "<a>"], []):
        name = "-".join(lists)
        more = {"additional_special_tokens": lists}
        yield f"pegasus-map-{name}", case("unigram", pegasus | {"offset": 4}, special_tokens_map__json=more)
        yield f"pegasus-config-{name}", case("unigram", pegasus | {"offset": 4} | more)
        yield (f"pegasus-both-{name}", case("unigram", pegasus | {"offset": 4} | more,
                                            special_tokens_map__json={"extra_special_tokens": ["<c>"]}))
        yield (f"pegasus-extra-{name}", case("unigram", pegasus | {"extra_special_tokens": lists},
                                             special_tokens_map__json=more))
        yield (f"pegasus-map-mask-{name}", case("unigram", pegasus | {"mask_token_sent": "<a>"},
                                                special_tokens_map__json=more))


def word_lists():
    """Classes that refuse texts: they load, and decode."""
    for name, base in WORD_LISTS.items():
        yield f"words-{name}", case(base, named(name))
        yield f"words-{name}-null-post", case(base, named(name), {"post_processor": None})
        yield f"words-{name}-named", case(base, named(name) | {"mask_token": "<m>", "pad_token": None})
        yield f"words-{name}-extra", case(base, named(name) | {"extra_special_tokens": ["<a>", "the"]})
    tags = named("MarkupLM") | {"tags_dict": {"a": 0, "b": 1}}
    for at, options in enumerate((
            {}, {"max_depth": 3}, {"max_depth": True}, {"max_depth": "3"}, {"max_depth": None}, {"max_width": 7},
            {"tags_dict": {}}, {"tags_dict": None}, {"tags_dict": 5}, {"add_prefix_space": True},
            {"mask_token": "<m>", "pad_token": None}, {"cls_token": None}, {"extra_special_tokens": ["<a>", "the"]})):
        yield f"words-MarkupLM-{at}", case("bytes", tags | options)
    yield "words-MarkupLM-null-post", case("bytes", tags, {"post_processor": None})
    yield "words-MarkupLM-over-pieces", case("pieces", tags)
    yield "words-MarkupLM-files", case("bytes", tags, vocab="bpe")
    yield "words-MarkupLM-no-tags", case("bytes", named("MarkupLM"))
    for option in ("do_lower_case", "add_prefix_space"):
        for value in (True, False):
            for name in ("LayoutLMv2", "LayoutLMv3"):
                yield f"words-{name}-{option}-{value}", case(WORD_LISTS[name], named(name) | {option: value})


def class_tokens():
    """Named and extra tokens over classes with defaults, flags and lists of their own."""
    names = ["Qwen2", "Cohere", "Roberta", "Luke", "Whisper", "CodeLlama", "Gemma", "Nllb", "SeamlessM4T",
             "Reformer", "Bert", "MPNet", "Splinter", "T5", "Pegasus", "Camembert", "MBart", "MBart50",
             "MLuke", "RemBert", "XLNet", "XGLM", "FNet", "Esmc"]
    given = {"mask_token": "<m>", "cls_token": "<c>", "sep_token": "</s>", "audio_token": "<au>"}
    flagged = {"1": added("<pad>", lstrip=True), "900": added("<m>", rstrip=True),
               "901": added("<a>", special=False, normalized=True)}
    for name in names:
        base = base_of(name)
        if name != "Esmc":
            yield f"own-{name}-named", case(base, named(name) | given)
            yield f"own-{name}-decoder", case(base, named(name) | given | {"added_tokens_decoder": flagged})
        yield f"own-{name}-null", case(base, named(name) | {"mask_token": None, "pad_token": None})
        if name not in ("Esmc", "Bert", "MPNet", "Splinter"):
            yield f"own-{name}-null-bos", case(base, named(name) | {"bos_token": None})
            yield f"own-{name}-null-cls", case(base, named(name) | {"cls_token": None})
        yield f"own-{name}-null-extra-map", case(base, named(name) | {"extra_special_tokens": None},
                                                 special_tokens_map__json={"additional_special_tokens": ["<a>"]})
        yield (f"own-{name}-flagged", case(base, named(name) | {
            "mask_token": {"__type": "AddedToken", **added("<m>", lstrip=True, special=False, normalized=True)},
            "extra_special_tokens": [{"__type": "AddedToken", **added("<m>", special=False)}, "<m>",
                                     {"__type": "AddedToken", **added("</s>", special=False)}]}))
        yield f"own-{name}-extra", case(base, named(name) | {"extra_special_tokens": ["<a>", "<b>"]})
        yield f"own-{name}-no-extra", case(base, named(name) | {"extra_special_tokens": []})
        yield f"own-{name}-additional", case(base, named(name) | {"additional_special_tokens": ["<a>"]})
        yield f"own-{name}-extra-dict", case(base, named(name) | {"extra_special_tokens": {"x_token": "<a>"}})
        yield f"own-{name}-map", case(base, named(name), special_tokens_map__json={
            "mask_token": {"content": "<m>", "lstrip": False, "normalized": True}, "unk_token": "<unk>"})


TEMPLATE = {"type": "TemplateProcessing", "special_tokens": {"<x>": {"id": "<x>", "ids": [7], "tokens": ["<x>"]}},
            "single": [{"SpecialToken": {"id": "<x>", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}],
            "pair": [{"Sequence": {"id": i, "type_id": 0}} for i in "AB"]}


def null_tokens():
    """Tokens that a class's template wants set to null, over files with a post-processor of their own
    and without, and with an entry of the text None, which is how Python spells null."""
    more = {"CodeLlama": ["prefix_token", "fill_token"], "Splinter": ["question_token"],
            "Luke": ["entity_1_token", "entity_unk_token"], "MLuke": ["entity_2_token"],
            "Esmc": ["chain_break_token", "bos_token"]}
    for name in ("Bert", "DPRReader", "MPNet", "Splinter", "ConvBert", "DebertaV2", "Albert", "RemBert", "Pegasus",
                 "Esmc", *(n for n in more if n not in ("Splinter", "Esmc"))):
        base = base_of(name)
        nulls = [["cls_token"], ["sep_token"], ["cls_token", "sep_token"], ["unk_token"], ["eos_token"],
                 ["unk_token", "sep_token"], *([m] for m in more.get(name, []))]
        for tokens in nulls if name not in ("CodeLlama", "Luke", "MLuke") else nulls[6:]:
            config = named(name) | dict.fromkeys(tokens)
            key = f"null-{name}-{'-'.join(t.removesuffix('_token') for t in tokens)}"
            yield key, case(base, config, {"post_processor": None})
            yield f"{key}-post", case(base, config, {"post_processor": TEMPLATE})
            yield f"{key}-none", case(base, config, {"post_processor": TEMPLATE}, entry="None")
        for token in more.get(name, []):
            yield f"null-{name}-given-{token}", case(base, named(name) | {token: "<m>"})
    yield "null-Splinter-given-no-unk", case("wordpiece", named("Splinter") | {"question_token": "<m>", "unk_token": None})
    yield "null-Splinter-no-dot", case("wordpiece", named("Splinter") | {"unk_token": None}, no_entry=".")
    for token in ("cls_token", "eos_token", "unk_token", "bos_token"):
        for text in ("A", "<m>"):
            yield f"null-Esmc-{token}-{text}", case("bytes", named("Esmc") | {token: text})


def charsmaps():
    """A Precompiled normalizer in the file, which some classes take over."""
    own = precompiled({"\ufb01": "fi", "\u00c5": "A", "\t": " ", "\x00": "", "T": "t", "\u3000": " "})
    space = {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "}
    for name in ("Tipsv2", "Nllb", "SeamlessM4T", "Reformer", "Albert", "RemBert", "XLNet", "Barthez",
                 "Camembert", "XLMRoberta", "XGLM", "MBart", "MBart50", "Pegasus", "T5", "Lasr",
                 "VideoPrism", "Bert", None):
        base = base_of(name) if name else "unigram"
        config = named(name) if name else None
        yield f"charsmap-{name}", case(base, config, {"normalizer": own})
        yield f"charsmap-{name}-second", case(base, config, {"normalizer": {
            "type": "Sequence", "normalizers": [space, own]}})
    yield "charsmap-T5-deep", case("unigram", named("T5"), {"normalizer": {
        "type": "Sequence", "normalizers": [{"type": "Sequence", "normalizers": [own]}]}})


def choosing():
    q, gpt = named("Qwen2"), named("GPT2")
    yield "choose-nothing", case("bytes")
    yield "choose-fast", case("bytes", {"tokenizer_class": "GPT2TokenizerFast"})
    for name in ("PreTrainedTokenizerFast", "PreTrainedTokenizer", "BloomTokenizer", "Qwen3Tokenizer",
                 "Gemma3Tokenizer", "MistralTokenizer", "OPTTokenizer", "NopeTokenizer", "LEDTokenizer",
                 "ElectraTokenizer", "Phi3Tokenizer", "TokenizersBackend"):
        yield f"choose-name-{name}", case("bytes", {"tokenizer_class": name})
    for kind, config in (("qwen3", None), ("qwen2", gpt), ("llama", None), ("glm4", q), ("phi3", gpt),
                         ("gemma3", q), ("mistral", named("Llama")), ("gpt2", q), ("unheard-of", gpt),
                         ("bert", None), ("t5", None), ("gpt_neox", None), ("opt", None),
                         ("starcoder2", gpt), ("granite", gpt), ("stablelm", named("GPTNeoX"))):
        yield (f"choose-type-{kind}-{config and config['tokenizer_class']}",
               case("bytes", config, config__json={"model_type": kind}))
    yield "choose-by-config", case("bytes", config__json={"tokenizer_class": "GPT2Tokenizer"})
    yield "choose-unknown-by-config", case("bytes", config__json={"tokenizer_class": "NopeTokenizer"})
    yield "choose-llama-byte-level", case("bytes", named("Llama"))
    yield "choose-llama-pieces", case("pieces", named("Llama"))
    yield "choose-llama-automap", case("bytes", named("Llama") | {"auto_map": {"AutoTokenizer": ["a.A", None]}})
    yield "choose-unknown-automap", case("bytes", named("My") | {"auto_map": {"AutoTokenizer": ["a.A", None]}})
    yield "choose-wrong-automap", case("bytes", named("My") | {"auto_map": {"AutoTokenizer": ["a.A", None]}},
                                       config__json={"model_type": "phi3"})
    for kind, name, base in (("phi3", "Llama", "pieces"), ("phi3", "GPT2", "bytes"), ("glm4", "Qwen2", "bytes"),
                             ("qwen3", "GPT2", "bytes")):
        yield (f"choose-{kind}-{name}-automap",
               case(base, named(name) | {"auto_map": {"AutoTokenizer": ["a.A", None]}},
                    config__json={"model_type": kind}))
    yield "choose-automap-other", case("bytes", gpt | {"auto_map": {"AutoConfig": "a.A"}})
    yield "choose-bad-config", case("bytes", gpt, config__json="{")
    yield "choose-bad-tokenizer-config", case("bytes", tokenizer_config__json="{")
    yield "choose-model-name", case("bytes", gpt, config__json={"model_type": "gemma3", "model_name": "phi3"})
    yield "versioned", case("bytes", {"fast_tokenizer_files": ["tokenizer.4.0.0.json", "tokenizer.9.0.0.json"]},
                            files={"tokenizer.4.0.0.json": "pieces", "tokenizer.9.0.0.json": "words"})
    yield "versioned-text-order", case("bytes", {"fast_tokenizer_files": ["tokenizer.10.0.json",
                                                                           "tokenizer.4.9.json"]},
                                       files={"tokenizer.10.0.json": "words", "tokenizer.4.9.json": "pieces"})


def tokens():
    """Sources and flags of added tokens, over the generic class and two that rebuild."""
    sources = {
        "named": {"bos_token": "<s>", "eos_token": "<e>", "audio_token": "<au>", "pad_token": None},
        "object": {"eos_token": {"__type": "AddedToken", **added("<a>", lstrip=True, special=False)}},
        "bad-object": {"eos_token": added("<a>")},
        "number": {"eos_token": 5},
        "other-null": {"audio_token": None, "image_token": 3},
        "additional": {"additional_special_tokens": ["<a>", "<b>"]},
        "both-lists": {"extra_special_tokens": ["<b>"], "additional_special_tokens": ["<a>"]},
        "empty-extra": {"extra_special_tokens": [], "additional_special_tokens": ["<a>"]},
        "extra-dict": {"extra_special_tokens": {"image_token": "<im>", "x": "<b>"}},
        "extra-dict-and-list": {"extra_special_tokens": {"image_token": "<im>"},
                                "additional_special_tokens": ["<a>"]},
        "extra-dict-objects": {"extra_special_tokens": {"image_token": added("<im>")}},
        "extra-objects": {"extra_special_tokens": [{"__type": "AddedToken", **added("<a>", rstrip=True)}]},
        "vocabulary-word": {"extra_special_tokens": ["the", "a"]},
        "decoder": {"added_tokens_decoder": {"7000": added("<b>", special=False, normalized=True),
                                             "6000": added("<a>", rstrip=True, lstrip=True)}},
        "decoder-flags": {"added_tokens_decoder": {"0": added("<s>", lstrip=True, rstrip=True)},
                          "bos_token": "<s>"},
        "decoder-partial": {"added_tokens_decoder": {"2": {"content": "</s>"}}, "eos_token": "</s>"},
        "decoder-single": {"added_tokens_decoder": {"9": added("ox", single_word=True)}},
        "decoder-empty": {"added_tokens_decoder": {}},
        "split": {"split_special_tokens": True, "added_tokens_decoder": {
            "0": added("<s>"), "900": added("<a>", special=False)}},
        "same-texts": {"bos_token": "<a>", "eos_token": "<a>", "extra_special_tokens": ["<a>"]},
        "flags": {"add_bos_token": True, "add_eos_token": True, "bos_token": "<s>", "eos_token": "</s>"},
        "cleanup": {"clean_up_tokenization_spaces": True},
    }
    for key, config in sources.items():
        for name in (None, "Qwen2", "Roberta"):
            yield (f"tokens-{key}-{name}",
                   case("bytes", config | (named(name) if name else {})))
    maps = {
        "map": {"bos_token": "<a>", "eos_token": {"content": "</s>", "lstrip": True, "rstrip": False,
                                                  "normalized": False, "single_word": False}},
        "map-null": {"bos_token": None},
        "map-lists": {"additional_special_tokens": ["<b>"], "extra_special_tokens": ["<c>"]},
        "map-objects": {"additional_special_tokens": [added("<b>")]},
        "map-extra-objects": {"extra_special_tokens": [{"content": "<c>", "lstrip": True}]},
        "map-other": {"image_token": "<im>"},
    }
    for key, special in maps.items():
        for name in (None, "Qwen2"):
            config = {"bos_token": "<s>", "image_token": "<au>"} | (named(name) if name else {})
            yield f"tokens-{key}-{name}", case("bytes", config, special_tokens_map__json=special)
    yield "tokens-map-unread", case("bytes", {"added_tokens_decoder": {}},
                                    special_tokens_map__json={"bos_token": "<a>"})
    yield "tokens-added-json", case("bytes", {"bos_token": "<a>"}, added_tokens__json={"<b>": 9000, "<a>": 8000})
    yield "tokens-added-json-class", case("bytes", named("GPT2"), added_tokens__json={"<b>": 9000})


def odd():
    """Values of unexpected types, and sources against each other."""
    for key, config in {
            "class-number": {"tokenizer_class": 5}, "class-null": {"tokenizer_class": None},
            "class-empty": {"tokenizer_class": ""}, "class-Fast": {"tokenizer_class": "Fast"},
            "prefix-text": named("GPT2") | {"add_prefix_space": "yes"},
            "prefix-number": named("Llama") | {"add_prefix_space": 1},
            "lower-number": named("Bert") | {"do_lower_case": 0},
            "extra-text": {"extra_special_tokens": "<a>"}, "extra-null": {"extra_special_tokens": None},
            "extra-number": {"extra_special_tokens": [5]}, "extra-nested": {"extra_special_tokens": [["<a>"]]},
            "additional-null": {"additional_special_tokens": None},
            "additional-text": {"additional_special_tokens": "<a>"},
            "decoder-null": {"added_tokens_decoder": None}, "decoder-list": {"added_tokens_decoder": []},
            "decoder-key": {"added_tokens_decoder": {"x": added("<a>")}},
            "decoder-text": {"added_tokens_decoder": {"5": "<a>"}},
            "decoder-unknown-flag": {"added_tokens_decoder": {"5": added("<a>", odd=True)}},
            "decoder-negative": {"added_tokens_decoder": {"-1": added("<a>"), "3": added("<b>")}},
            "decoder-same-text": {"added_tokens_decoder": {"900": added("<a>"), "800": added("<a>", lstrip=True)}},
            "decoder-empty-text": {"added_tokens_decoder": {"900": added("")}},
            "token-empty": {"bos_token": ""}, "token-list": {"bos_token": ["<a>"]},
            "token-false": {"bos_token": False}, "side": {"padding_side": "middle"},
            "template-number": {"chat_template": 5},
            "automap-null": {"auto_map": None}, "automap-text": {"auto_map": "a.A"},
            "automap-empty": {"auto_map": {}}, "automap-short": {"auto_map": {"AutoTokenizer": []}},
            "automap-name": {"auto_map": {"AutoTokenizer": "a.A"}},
            "automap-class": named("GPT2") | {"auto_map": {"AutoTokenizer": ["a.A"]}},
            "automap-class-name": named("GPT2") | {"auto_map": {"AutoTokenizer": "a.A"}},
            "automap-list": {"auto_map": ["a.A", None]},
            "split-number": {"split_special_tokens": 1}, "init-inputs": {"init_inputs": []},
            "name-or-path": {"name_or_path": "other/place"},
            "files-null": {"fast_tokenizer_files": []}, "vocab-file": {"vocab_file": "/nowhere/x"},
            "model-specific": {"model_specific_special_tokens": {"x_token": "<a>"}},
            "control": {"chat_control_tokens": "<a>"}}.items():
        yield f"odd-{key}", case("wordpiece" if "lower" in key else "bytes", config)
    for name in ("T5", "Camembert", "Nllb", "MBart", "MLuke", "Pegasus", "SeamlessM4T"):
        both = {"extra_special_tokens": ["<a>"], "additional_special_tokens": ["<b>"]}
        yield f"odd-both-{name}", case(base_of(name), named(name) | both)
        yield f"odd-null-{name}", case(base_of(name), named(name) | {"extra_special_tokens": None})
        yield (f"odd-map-{name}", case(base_of(name), named(name), special_tokens_map__json={
            "additional_special_tokens": ["<a>", "<extra_id_0>"]}))
    yield "odd-t5-ids", case("unigram", named("T5") | {"extra_ids": 3})
    yield "odd-t5-no-ids", case("unigram", named("T5") | {"extra_ids": 0})
    yield "odd-unk-moved", case("unigram", named("BigBird") | {"unk_token": "[UNK]"})
    yield "odd-unk-missing", case("unigram", named("Pegasus") | {"unk_token": "<nope>"})
    yield "odd-pair", case("bytes", {"bos_token": "<a>", "eos_token": {"__type": "AddedToken", **added(
        "<a>", lstrip=True)}})
    yield "odd-roberta-null-cls", case("bytes", named("Roberta") | {"cls_token": None})
    yield "odd-llama-null-unk", case("pieces", named("CodeLlama") | {"unk_token": None})
    yield "odd-codellama-null-bos", case("pieces", named("CodeLlama") | {"bos_token": None})
    for config in ([], 5, {"model_type": 5}, {"model_type": None},
                   {"model_type": "t5", "tokenizer_class": "X"}):
        yield f"odd-config-{json.dumps(config)[:40]}", case("bytes", named("GPT2"), config__json=config)
    yield "odd-tokenizer-config", case("bytes", tokenizer_config__json=[])
    yield "odd-map-list", case("bytes", special_tokens_map__json=[])
    yield "odd-added-list", case("bytes", added_tokens__json=[])
    yield "odd-added-text", case("bytes", added_tokens__json={"<a>": "5"})
    yield "odd-model-file", case("bytes", named("Llama"), tokenizer__model="no model")
    yield "odd-model-only", case("bytes", named("Llama"), vocab="none", tokenizer__model="no model")
    yield "odd-tekken-only", case("bytes", {}, vocab="none", tekken__json="{}")
    yield "odd-no-added", case("bytes", None, {"added_tokens": None})
    yield "odd-no-type", case("bytes", named("GPT2"), {"model.type": None})


def sections():
    """What a file says that a class keeps or loses."""
    cut = {"truncation": {"direction": "Right", "max_length": 2, "strategy": "LongestFirst", "stride": 0},
           "padding": {"strategy": {"Fixed": 40}, "direction": "Right", "pad_to_multiple_of": None,
                       "pad_id": 0, "pad_type_id": 0, "pad_token": "<pad>"}}
    for name in (None, "Qwen2"):
        yield f"file-cut-{name}", case("bytes", named(name) if name else None, cut)
        yield (f"file-ignore-merges-{name}",
               case("bytes", named(name) if name else None, {"model.ignore_merges": True}))
    yield "file-no-fallback", case("pieces", named("Llama"), {"model.byte_fallback": False})
    yield "file-byte-level-post", case("bytes", named("GPT2"), {"post_processor": {
        "type": "ByteLevel", "add_prefix_space": True, "trim_offsets": False, "use_regex": True}})
    for name in ("T5", "Albert", "XLMRoberta", "Reformer"):
        for value in (True, False):
            yield (f"file-cleanup-{name}-{value}",
                   case(base_of(name), named(name) | {"clean_up_tokenization_spaces": value}))
    for name in ("GPT2", "Qwen2", "Roberta", "CLIP", "Cohere"):
        yield f"files-bpe-{name}", case("bytes", named(name) | {"add_bos_token": True}, vocab="bpe")
    yield "files-bpe-generic", case("bytes", {}, vocab="bpe")
    for name in ("Bert", "DistilBert", "MPNet"):
        yield f"files-txt-{name}", case("wordpiece", named(name), vocab="txt")
    yield "files-none", case("bytes", named("GPT2"), vocab="none")
    for kind, version, fix in (("mistral", "4.50.0", True), ("mistral", "5.1.0", True), ("llama", "4.0", True),
                               ("mistral", None, True), ("mistral", "4.50.0", False)):
        config = {"model_type": kind} | ({"transformers_version": version} if version else {})
        yield (f"mistral-{kind}-{version}-{fix}",
               case("bytes", {"fix_mistral_regex": fix}, big=True, config__json=config))


def cases():
    out = {}
    for part in (classes, speech, pegasus, word_lists, class_tokens, null_tokens, charsmaps, choosing, tokens, odd,
                 sections):
        for name, value in part():
            assert name not in out, name
            out[name] = value
    return out


def write(folder, one):
    files = dict(one["files"])
    state = copy.deepcopy(tokenizers_()[one["base"]])
    for key, value in one["tokenizer"].items():
        at = state
        *path, last = key.split(".")
        for step in path:
            at = at[step]
        at[last] = value
    entries, entry, no_entry = state["model"]["vocab"], files.pop("entry", None), files.pop("no_entry", None)
    if entry is not None:
        state["model"]["vocab"] = entries | {entry: len(entries)} if isinstance(entries, dict) else \
            [*entries, [entry, 0.0]]
    if no_entry is not None:
        entries["(no entry)"] = entries.pop(no_entry)
    if files.pop("big", False):
        start = len(state["model"]["vocab"])
        state["model"]["vocab"] |= {f"filler{i}": start + i for i in range(100001)}
    vocab = files.pop("vocab", None)
    for name, base in files.pop("files", {}).items():
        (folder / name).write_text(json.dumps(tokenizers_()[base]))
    if vocab == "bpe":
        (folder / "vocab.json").write_text(json.dumps(state["model"]["vocab"]))
        (folder / "merges.txt").write_text("#version: 0.2\n" + "".join(
            " ".join(m) + "\n" for m in state["model"]["merges"]))
    elif vocab == "txt":
        by_id = sorted(state["model"]["vocab"].items(), key=lambda i: i[1])
        (folder / "vocab.txt").write_text("".join(t + "\n" for t, _ in by_id))
    elif vocab is None:
        (folder / "tokenizer.json").write_text(json.dumps(state))
    for name, value in files.items():
        (folder / name).write_text(value if isinstance(value, str) else json.dumps(value))
