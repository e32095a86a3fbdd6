#!/usr/bin/env python3
"""Trains the tokenizer of the built-in model: 4,096 entries, byte-level BPE.

Needs the tokenizers library (build/venv has it). The text is the project's own: what the synthetic
workload generator writes, and the built-in chat template. Training is deterministic: the same text
gives the same file, byte for byte (tests/conformance/test_default_model.py)."""
import argparse
import json
import random
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from tokenizers import AddedToken

from make_workload import trajectories
from synthetic import Gen

ASSETS = Path(__file__).resolve().parent.parent / "assets" / "default"
SIZE = 4096
CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MARKS = ["<think>", "</think>", "<tool_call>", "</tool_call>", "<tool_response>",
         "</tool_response>"]
# Words with what stands before them, digits one by one, runs of punctuation, white space: the
# split that most byte-level BPE models of today use.
SPLIT = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
         r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
PROSE_CHARS, CODE_CHARS, TRAJECTORIES = 400_000, 400_000, 12


def corpus():
    """Pieces of text, always the same."""
    g = Gen(random.Random("built-in model"))
    yield g.paragraph(PROSE_CHARS)
    yield g.file_content(CODE_CHARS, False)
    for t in trajectories(seed="built-in model", limit=TRAJECTORIES):
        for tool in t["tools"]:
            yield json.dumps(tool, ensure_ascii=False)
        for message in t["messages"]:
            yield message["content"]
            yield message.get("reasoning_content", "")
            for call in message.get("tool_calls", []):
                yield call["function"]["arguments"]
    yield (ASSETS / "chat_template.jinja").read_text(encoding="utf-8")


def train():
    tokenizer = Tokenizer(models.BPE())
    plain = {"add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(SPLIT), behavior="isolated"),
        pre_tokenizers.ByteLevel(**plain)])
    tokenizer.decoder = decoders.ByteLevel(**plain)
    tokenizer.post_processor = processors.ByteLevel(**plain)
    trainer = trainers.BpeTrainer(vocab_size=SIZE - len(CONTROL) - len(MARKS),
                                  initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
                                  show_progress=False)
    tokenizer.train_from_iterator(corpus(), trainer)
    tokenizer.add_special_tokens([AddedToken(t, special=True, normalized=False) for t in CONTROL])
    tokenizer.add_tokens([AddedToken(t, special=False, normalized=False) for t in MARKS])
    if tokenizer.get_vocab_size() != SIZE:
        raise SystemExit(f"the vocabulary has {tokenizer.get_vocab_size()} entries, not {SIZE}")
    return tokenizer.to_str(pretty=False) + "\n"


def config():
    """tokenizer_config.json: the generic class, so tokenizer.json is used as it stands."""
    return json.dumps({
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": 1 << 20,
        "clean_up_tokenization_spaces": False,
        "bos_token": None,
        "eos_token": "<|im_end|>",
        "pad_token": "<|endoftext|>",
    }, indent=2) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ASSETS, help="the model folder to write")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "tokenizer.json").write_text(train(), encoding="utf-8")
    (options.out / "tokenizer_config.json").write_text(config(), encoding="utf-8")


if __name__ == "__main__":
    main()
