#!/usr/bin/env python3
"""A loss mask for supervised fine-tuning, by message: 1 for the tokens of the chosen messages.

Model.spans tells which message each token came from, also for templates without {% generation %}
blocks. The header of an answer ("assistant:") belongs to its message; where only the text shall be
learned, the template's generation blocks (return_assistant_tokens_mask) say so."""
import tokdrain


def loss_mask(model, messages, learn=lambda m: m["role"] == "assistant", **kwargs):
    """(ids, mask), equally long."""
    ids = model.apply_chat_template(messages, return_dict=False, **kwargs)
    mask = [0] * len(ids)
    for span in model.spans(messages, add_generation_prompt=False, **kwargs):
        if span.message is not None and learn(messages[span.message]):
            mask[span.start:span.end] = [1] * (span.end - span.start)
    return ids, mask


def main():
    model = tokdrain.Model.built_in()
    messages = [{"role": "user", "content": "What is 2 + 2?"},
                {"role": "assistant", "content": "It is 5."},
                {"role": "user", "content": "Sure?"},
                {"role": "assistant", "content": "No: it is 4."}]
    last = messages[-1]
    for name, learn in [("all answers", lambda m: m["role"] == "assistant"),
                        ("the last answer", lambda m: m is last)]:
        ids, mask = loss_mask(model, messages, learn)
        text = model.decode([i for i, bit in zip(ids, mask, strict=True) if bit])
        print(f"{name}: {sum(mask)} of {len(ids)} tokens: {text!r}")


if __name__ == "__main__":
    main()
