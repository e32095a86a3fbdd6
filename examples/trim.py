#!/usr/bin/env python3
"""Trims a conversation to a budget of tokens: the oldest turns go first, system prompts stay.

What stays is counted exactly, with the template around it and the generation prompt, so the result
fits; nothing is added up from parts. A turn begins with a user's message: answers and tool calls
never lose the question before them."""
import tokdrain


def trim(model, messages, budget, **kwargs):
    """The longest end of the conversation, with its system prompts, of at most budget tokens;
    None when not even the last turn fits."""
    first = next((i for i, m in enumerate(messages) if m["role"] not in ("system", "developer")),
                 len(messages))
    head, rest = messages[:first], messages[first:]
    starts = [i for i, m in enumerate(rest) if m["role"] == "user"] or [0]
    if model.count(messages, **kwargs) <= budget:
        return messages
    low, high = 0, len(starts)  # fewer turns never have more tokens: search by halves
    while low < high:
        middle = (low + high) // 2
        if model.count(head + rest[starts[middle]:], **kwargs) <= budget:
            high = middle
        else:
            low = middle + 1
    return head + rest[starts[low]:] if low < len(starts) else None


def main():
    model = tokdrain.Model.built_in()
    messages = [{"role": "system", "content": "You are brief."}]
    for i in range(40):
        messages += [{"role": "user", "content": f"Question {i}? " + "Please tell. " * (i % 5)},
                     {"role": "assistant", "content": f"Answer {i}. " * (1 + i % 7)}]
    messages.append({"role": "user", "content": "And now?"})
    for budget in (10_000, 500, 100, 5):
        kept = trim(model, messages, budget)
        if kept is None:
            print(f"budget {budget}: not even the last turn fits")
        else:
            print(f"budget {budget}: {len(kept)} of {len(messages)} messages, "
                  f"{model.count(kept)} tokens")


if __name__ == "__main__":
    main()
