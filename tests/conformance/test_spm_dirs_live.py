"""Model directories whose only vocabulary is a SentencePiece model, beside AutoTokenizer: every class
over the tokenizers library, under the name that the class has for the file and as tokenizer.model. Ids,
decoded text, named tokens, and what is refused."""
import json
import subprocess

import pytest
from formats_reference import formats, random_texts
from test_sentencepiece_live import MADE, PARTS, WORDS, maker

__all__ = ["formats"]  # a fixture

SPECIAL = ["<pad>", "<mask>", "[CLS]", "[SEP]", "[MASK]", "[PAD]", "[UNK]", "<m>", "eng_Latn", "<cls>", "<sep>",
           "<mask_1>"]
MODELS = {
    **MADE,
    "unigram special": ({"control_symbols": SPECIAL, "user_defined_symbols": ["<u>", "en_XX", "<unk_3>", "ab"]}, {}),
    "bpe special": ({"model_type": "bpe", "control_symbols": SPECIAL, "user_defined_symbols": ["<u>", "ab"]}, {}),
    "unigram fairseq": ({"control_symbols": ["[CLS]", "[SEP]"], "unk_id": 2, "bos_id": 0, "eos_id": 1}, {}),
    "unigram t5": ({"control_symbols": ["[CLS]", "[SEP]"], "pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1,
                    "user_defined_symbols": [f"<extra_id_{i}>" for i in range(3)]}, {}),
    "unigram zero scores": ({"control_symbols": ["[CLS]", "[SEP]"]}, {"round": 1000.0}),
    "unigram small scores": ({"control_symbols": ["[CLS]", "[SEP]"]},
                             {"more": [["qz", -1e-30, 1], ["zq", -1e-42, 1], ["Q", -0.1, 1], ["zqz", 3e38, 1]]}),
    "unigram twice": ({"control_symbols": ["[CLS]", "[SEP]"]}, {"more": [["<pad>", -1.0, 1], ["<mask>", -2.0, 1]]}),
    "bpe moved": ({"model_type": "bpe", "pad_id": 0, "unk_id": 1, "bos_id": 2, "eos_id": 3}, {}),
}
OWN = {  # what each class calls it
    "spiece.model": ["Albert", "BigBird", "Lasr", "Pegasus", "Reformer", "T5", "Udop", "VideoPrism", "XLNet"],
    "sentencepiece.bpe.model": ["Barthez", "Camembert", "LayoutXLM", "MBart", "MBart50", "MLuke", "Nllb",
                                "SeamlessM4T", "XLMRoberta"],
    "sentencepiece.model": ["RemBert"], "spm.model": ["DebertaV2"],
    "tokenizer.model": ["Llama", "CodeLlama", "Gemma", "Siglip2", "Tipsv2", "XGLM", "FNet", "Parakeet", "ConvBert",
                        "GPT2", "CodeGen", "GPTNeoX", "Qwen2", "Qwen3_5", "Cohere", "Whisper", "Roberta", "Blenderbot",
                        "Deberta", "LayoutLMv3", "Luke", "Nougat", "CLIP", "OpenAIGPT", "Herbert", "Esmc", "Bert",
                        "DistilBert", "DPRReader", "Funnel", "MPNet", "Splinter", "LayoutLMv2", "RoFormer",
                        "MarkupLM", ""],
}
FILE = {name: file for file, names in OWN.items() for name in names}
LISTS = [name for file, names in OWN.items() if file != "tokenizer.model" for name in names] + ["XGLM", "FNet", "Parakeet"]
ENTRY = {"lstrip": False, "rstrip": False, "single_word": False, "special": True, "normalized": True}
FLAGGED = {"__type": "AddedToken", "content": "<m>", "lstrip": True, "normalized": True, "special": False}
CONFIGS = {
    "nothing": {},
    "bos and eos": {"add_bos_token": True, "add_eos_token": True},
    "no bos": {"add_bos_token": False},
    "named": {"mask_token": "<m>", "pad_token": "<p>", "cls_token": "<s>", "sep_token": "</s>", "audio_token": "<au>"},
    "named pieces": {"bos_token": "[CLS]", "eos_token": "[SEP]", "unk_token": "[UNK]", "cls_token": "[CLS]"},
    "flagged": {"mask_token": FLAGGED, "unk_token": "<unk>"},
    "null": {"mask_token": None, "pad_token": None},
    "null bos": {"bos_token": None, "eos_token": "</s>"},
    "decoder": {"added_tokens_decoder": {
        "0": {**ENTRY, "content": "<unk>"}, "1": {**ENTRY, "content": "<s>", "rstrip": True},
        "3": {**ENTRY, "content": "<|new|>", "special": False}, "900": {**ENTRY, "content": "<|far|>"}}},
    "extra": {"extra_special_tokens": ["<|e|>", "ab"]},
    "extra null": {"extra_special_tokens": None},
    "extra by name": {"extra_special_tokens": {"image_token": "<|e|>"}},
    "extra by name, decoder": {"extra_special_tokens": {"image_token": "<|e|>"},
                               "added_tokens_decoder": {"1": {**ENTRY, "content": "<s>"}}},
    "additional": {"additional_special_tokens": ["<|e|>", "<u>"]},
    "both": {"extra_special_tokens": ["<|e|>"], "additional_special_tokens": ["<|f|>"]},
    "options": {"do_lower_case": True, "keep_accents": True, "add_prefix_space": False, "legacy": False},
    "unk_id": {"unk_id": 3},
}
MAPS = {
    "map": {"special_tokens_map.json": {"mask_token": {"content": "<m>", "lstrip": True}, "pad_token": "[PAD]",
                                        "additional_special_tokens": ["<|e|>"]}},
    "map's extra": {"special_tokens_map.json": {"extra_special_tokens": ["<|e|>"]}},
    "added": {"added_tokens.json": {"<|new|>": 4, "<|far|>": 500, "<s>": 1, "<c>": 3}},
}
ODD = {
    "T5": [{"extra_ids": 3}, {"extra_ids": 0}, {"extra_ids": "3"}], "VideoPrism": [{"extra_ids": 5}], "Lasr": [{"extra_ids": 5}],
    "Pegasus": [{"offset": 5}, {"offset": 0}, {"offset": None}, {"offset": True}, {"mask_token_sent": None, "unk_token": "<s>"},
                {"mask_token": None, "unk_token": "</s>"}, {"mask_token_sent": "<mask_2>", "offset": 4}],
    "MBart": [{"src_lang": "de_DE"}, {"src_lang": "nope"}], "MBart50": [{"src_lang": "sl_SI"}, {"src_lang": "nope"}],
    "Nllb": [{"src_lang": "the"}, {"legacy_behaviour": True}, {"pad_token": "the"}],
    "SeamlessM4T": [{"tgt_lang": "the"}, {"src_lang": "__x__"}], "XLNet": [{"unk_id": 5}, {"unk_id": 500}],
    "DebertaV2": [{"unk_id": 5}, {"unk_token": "<unk>"}, {"split_by_punct": True}],
    "BigBird": [{"unk_token": "[UNK]"}, {"unk_token": "absent"}], "Camembert": [{"unk_token": "absent"}],
    "Udop": [{"unk_token": "<unk>"}], "": [{"legacy": False}, {"unk_id": 4}, {"legacy": "x"}],
}
TEXTS = ["", " ", "  a  b ", "▁a", "a▁▁b", "the then<s>there", "<s> the", "x<c>y<u>abca▁x12", "日本語 été\n\n é",
         "<|new|> ab<|far|>the", "\tNAÏVE  \n straße", "</s>the</s> the", "zq\u0301 <0x41>A zqz", "``the'' en_XX <unk_3>ab",
         "<mask> x [MASK] y <m>z <pad>[CLS]", "<extra_id_0><extra_id_3> a", "\x00a\ufb01 \u3000b"]


def cases():
    for name, file in FILE.items():
        for model in ("unigram special", "bpe special"):
            yield name, file, model, "nothing"
        if file != "tokenizer.model":
            yield name, "tokenizer.model", "unigram special", "nothing"
        for config in ("bos and eos", "extra", "decoder"):
            yield name, file, "bpe special", config
    for name in [*LISTS, ""]:
        for config in [*CONFIGS, *MAPS]:
            yield name, FILE[name], "unigram special", config
        for model in ("unigram", "unigram user bytes", "unigram fairseq", "unigram t5", "unigram zero scores",
                      "unigram small scores", "unigram twice", "bpe moved"):
            if (name, model) != ("SeamlessM4T", "unigram t5"):  # two tokens have one id: refused here
                yield name, FILE[name], model, "nothing"
        for at in range(len(ODD.get(name, []))):
            yield name, FILE[name], "unigram special", at
    for model in MADE:
        for name in ("", "XLMRoberta", "Albert"):
            yield name, FILE[name], model, "named pieces" if name == "Albert" else "nothing"


@pytest.fixture(scope="module")
def made(formats, tmp_path_factory):
    """made(name): one of MODELS, made once."""
    return maker(formats, tmp_path_factory.mktemp("spm"), MODELS)


def write(folder, name, file, model, files):
    config = files.get("tokenizer_config.json", {})
    named = {"tokenizer_class": name + "Tokenizer"} if name else {}
    files = {"config.json": {}, **files, "tokenizer_config.json": {**config, **named}}
    for path, content in files.items():
        (folder / path).write_text(json.dumps(content))
    (folder / file).write_bytes(model.read_bytes())


def run(program, command, folder, requests, *options):
    done = subprocess.run([program, command, "-m", folder, *options], capture_output=True, check=False,
                          input="".join(json.dumps(r) + "\n" for r in requests).encode())
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode()


def compare(program, formats, folder):
    error = formats.open_directory(folder)
    status, _, errors = run(program, "encode", folder, [])
    if error is not None:
        assert status == 3, error
        return
    assert status == 0, errors
    texts = TEXTS + random_texts(WORDS + PARTS + ["<u>", "<c>", "abca", "<|new|>", "<|far|>", "<|e|>", *SPECIAL], 40, 9)
    lists = []
    for special in (False, True):
        _, lines, _ = run(program, "encode", folder, [{"text": t, "add_special_tokens": special} for t in texts])
        wanted = formats.encode(texts, bos=special)
        for text, line, want in zip(texts, lines, wanted, strict=True):
            assert line.get("ids") == want.get("ids"), (text, special, line, want)
        lists += [w["ids"] for w in wanted[:20] if "ids" in w]
    tokens = formats.ask(op="tokens")
    lists += [[i, 0, 3 * i] for i in range(0, tokens["size"] // 3, 7)]
    for skip in (False, True):
        _, lines, _ = run(program, "decode", folder, [{"ids": i} for i in lists],
                          *["--skip-special-tokens"] * skip)
        for ids, line, want in zip(lists, lines, formats.decode(lists, skip), strict=True):
            assert line["text"] == want, (ids, skip)
    info = json.loads(subprocess.run([program, "info", "--json", "-m", folder], capture_output=True,
                                     check=True).stdout)
    assert list(map(list, info["special_tokens"].items())) == tokens["named"]
    assert info["vocabulary"] == tokens["size"]


@pytest.mark.parametrize("name, file, model, config", dict.fromkeys(cases()))
def test_directory(program, tmp_path, formats, made, name, file, model, config):
    files = MAPS.get(config) or {
        "tokenizer_config.json": ODD[name][config] if isinstance(config, int) else CONFIGS[config]}
    write(tmp_path, name, file, made(model), files)
    compare(program, formats, tmp_path)


@pytest.mark.parametrize("name, files", [
    ("T5", {"spiece.model": "unigram special", "tokenizer.model": "unigram t5"}),
    ("T5", {"spiece.model": "unigram special", "sentencepiece.bpe.model": "unigram t5"}),
    ("T5", {"spiece.model": "unigram special", "tokenizer.json.bak": "unigram t5"}),
    ("T5", {"spiece.model": "unigram special", "tokenizer.json.bak": "bpe", "tokenizer.model": "unigram t5"}),
    ("", {"tokenizer.model": "unigram special", "tokenizer.json.bak": "bpe"}),
    ("XLMRoberta", {"spiece.model": "unigram special", "sentencepiece.bpe.model": "unigram t5"}),
])
def test_which_file(program, tmp_path, formats, made, name, files):
    for file, model in files.items():
        write(tmp_path, name, file, made(model), {})
    compare(program, formats, tmp_path)


@pytest.mark.parametrize("name, files, message", [
    ("T5", {"tokenizer.model.v3": "unigram special", "spiece.model": "unigram t5"}, "which is not read for this class"),
    ("T5", {"sentencepiece.bpe.model": "unigram special"}, "which is not read for this class"),
    ("Bert", {"tokenizer.model": "bpe special"}, "which takes no SentencePiece vocabulary"),
    ("Barthez", {"tokenizer.model": "bpe special"}, "needs a SentencePiece model of the kind Unigram"),
    ("Albert", {"spiece.model": "unigram"}, 'AlbertTokenizer needs "[CLS]" in the vocabulary'),
    ("Pegasus", {"spiece.model": "unigram"}, 'needs "<unk>" with score 0'),
    ("SeamlessM4T", {"sentencepiece.bpe.model": "unigram t5"}, "two tokens of this class's vocabulary have the id 2"),
    ("RoFormer", {"tokenizer.model": "bpe special"}, "the Python package rjieba"),
])
def test_refused(program, tmp_path, made, name, files, message):
    for file, model in files.items():
        write(tmp_path, name, file, made(model), {})
    status, _, errors = run(program, "encode", tmp_path, [])
    assert status == 3 and message in errors, errors
