"""Conversations that chat templates meet in practice, and the odd ones that break them.

conversations() gives (name, request) pairs; a request holds messages and what
apply_chat_template takes beside them (tools, documents, template variables). All of it is plain
data made from fixed parts, so two runs see the same pairs.
"""
import copy
import itertools

WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "Weather of a place, in °C.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "City & country"},
                "days": {"type": "integer", "minimum": 1, "default": 3},
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
            },
            "required": ["city"],
        },
    },
}
SEARCH = {
    "type": "function",
    "function": {
        "name": "search",
        "description": "Find <documents> in \"the\" index\n(second line)",
        "parameters": {
            "type": "object",
            "properties": {
                "query": {"type": ["string", "null"]},
                "filters": {
                    "type": "object",
                    "properties": {"year": {"type": "number"}, "tags": {"type": "array", "items": {"type": "string"}}},
                },
                "ids": {"type": "array", "items": {"type": "integer"}},
                "exact": {"type": "boolean", "default": False},
            },
        },
        "return": {"type": "string"},
    },
}
NO_ARGS = {"type": "function", "function": {"name": "now", "description": "", "parameters": {"type": "object", "properties": {}}}}
BARE_TOOL = {"name": "bare", "description": "A schema without its wrapper", "parameters": {"type": "object", "properties": {"x": {"type": "string"}}}}
REFS_TOOL = {
    "type": "function",
    "function": {
        "name": "nested",
        "description": "Nested, oneOf and $ref",
        "parameters": {
            "type": "object",
            "$defs": {"p": {"type": "object", "properties": {"x": {"type": "number"}}}},
            "properties": {
                "point": {"$ref": "#/$defs/p"},
                "either": {"oneOf": [{"type": "object", "description": "first"}, {"type": "string", "default": "s"}]},
                "any": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "matrix": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}},
            },
            "required": ["point", "either"],
        },
    },
}

SYSTEM = {"role": "system", "content": "You are a helpful assistant.\nBe brief."}
USER = {"role": "user", "content": "What is the weather in Zürich?"}
ASSISTANT = {"role": "assistant", "content": "It is sunny."}


def user(text):
    return {"role": "user", "content": text}


def assistant(text, **more):
    return {"role": "assistant", "content": text, **more}


def call(name, arguments, cid="call00001"):
    return {"id": cid, "type": "function", "function": {"name": name, "arguments": arguments}}


def tool(text, name="get_weather", cid="call00001"):
    return {"role": "tool", "name": name, "tool_call_id": cid, "content": text}


TEXTS = {
    "plain": "Hello, world",
    "empty": "",
    "spaces": "  \t leading and trailing \n\n ",
    "newlines": "\n\nfirst\r\nsecond\rthird\u2028fourth\n",
    "unicode": "naïve café — 数据 データ 한국어 العربية हिन्दी 🙂👩‍👩‍👧 e\u0301 \u00a0\u3000 ﬁ Ω \U0010ffff",
    "specials": "<|im_start|>system\n<|im_end|> <|endoftext|> <s></s> [INST] <think>x</think> <|eot_id|> <|start|>",
    "markup": "<b>&amp; \"quoted\" 'single' & > </b>",
    "think_end": "some reasoning</think>\n\nthe answer",
    "think_both": "<think>\nfirst thought\n</think>\n\nthe answer",
    "think_open": "<think>never closed",
    "braces": "{{ messages }} {% raw %} {# comment #} }} %}",
    "nul": "a\x00b\x1f\x7f",
    "digits": "1234567890 3.14159 1e10 0x1F -7",
    "long": "The quick brown fox. " * 60,
    "tool_text": "<tool_call>\n{\"name\": \"x\"}\n</tool_call><tool_response>y</tool_response>",
}


def plain():
    yield "user", [USER]
    yield "system_user", [SYSTEM, USER]
    yield "developer_user", [{"role": "developer", "content": "Rules"}, USER]
    yield "two_turns", [USER, ASSISTANT, user("And tomorrow?")]
    yield "system_two_turns", [SYSTEM, USER, ASSISTANT, user("And tomorrow?")]
    yield "ends_with_assistant", [SYSTEM, USER, ASSISTANT]
    yield "four_turns", [SYSTEM] + [m for i in range(4) for m in (user(f"Question {i}?"), assistant(f"Answer {i}."))] + [user("Last")]
    yield "two_users", [user("one"), user("two")]
    yield "two_assistants", [USER, ASSISTANT, assistant("More."), user("Why?")]
    yield "assistant_first", [ASSISTANT, USER]
    yield "system_only", [SYSTEM]
    yield "system_in_middle", [USER, ASSISTANT, SYSTEM, user("Go on")]
    yield "two_systems", [SYSTEM, {"role": "system", "content": "Also: be polite."}, USER]
    yield "empty_system", [{"role": "system", "content": ""}, USER]
    yield "unknown_role", [USER, {"role": "critic", "content": "Hm."}]
    yield "no_content_key", [{"role": "user"}]
    yield "null_content", [{"role": "user", "content": None}, ASSISTANT]
    yield "number_content", [{"role": "user", "content": 12}]
    yield "dict_content", [{"role": "user", "content": {"type": "text", "text": "hi"}}]
    yield "no_role", [{"content": "hi"}]
    yield "named", [{"role": "user", "name": "ann", "content": "hi"}, {"role": "assistant", "name": "bot", "content": "yo"}, user("?")]
    yield "extra_keys", [{"role": "user", "content": "hi", "extra": {"a": [1, 2.5, None, True]}, "recipient": "all"}]
    for name, text in TEXTS.items():
        yield f"user_{name}", [user(text)]
        yield f"turns_{name}", [{"role": "system", "content": text}, user(text), assistant(text), user("next")]


def lists():
    part = {"type": "text", "text": "What is this?"}
    yield "list_text", [{"role": "user", "content": [part]}]
    yield "list_two_texts", [SYSTEM, {"role": "user", "content": [part, {"type": "text", "text": " And that?"}]}, ASSISTANT, USER]
    yield "list_image", [{"role": "user", "content": [{"type": "image"}, part]}]
    yield "list_image_url", [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "x.png"}}, part]}]
    yield "list_video_audio", [{"role": "user", "content": [{"type": "video"}, {"type": "audio", "audio_url": "a.wav"}, part]}]
    yield "list_empty", [{"role": "user", "content": []}]
    yield "list_strings", [{"role": "user", "content": ["a", "b"]}]
    yield "list_everywhere", [{"role": "system", "content": [part]}, {"role": "user", "content": [part]}, {"role": "assistant", "content": [part]}, USER]


def reasoning():
    yield "reasoning_last", [USER, assistant("Sunny.", reasoning_content="Let me think.\nDone.")]
    yield "reasoning_middle", [USER, assistant("Sunny.", reasoning_content="Hm."), user("Sure?"), assistant("Yes.", reasoning_content="Again."), user("Ok")]
    yield "reasoning_key", [USER, assistant("Sunny.", reasoning="Short."), user("Ok")]
    yield "thinking_key", [USER, assistant("Sunny.", thinking="Short."), user("Ok")]
    yield "reasoning_empty", [USER, assistant("Sunny.", reasoning_content=""), user("Ok")]
    yield "reasoning_null", [USER, assistant("Sunny.", reasoning_content=None), user("Ok")]
    yield "reasoning_number", [USER, assistant("Sunny.", reasoning_content=3), user("Ok")]
    yield "inline_think", [USER, assistant("<think>\nA\n</think>\n\nB"), user("Ok"), assistant("<think>C</think>D")]


def tool_turns():
    one = [call("get_weather", {"city": "Zürich", "days": 2})]
    yield "one_call", [USER, assistant("", tool_calls=one), tool("12 °C"), assistant("12 degrees.")]
    yield "one_call_pending", [USER, assistant("", tool_calls=one), tool("12 °C")]
    yield "call_last", [USER, assistant("", tool_calls=one)]
    yield "call_null_content", [SYSTEM, USER, assistant(None, tool_calls=one), tool("12 °C"), assistant("12.")]
    yield "call_no_content", [USER, {"role": "assistant", "tool_calls": one}, tool("12 °C")]
    yield "call_with_text", [USER, assistant("Let me look.", tool_calls=one), tool("12 °C"), user("thanks")]
    yield "call_reasoning", [USER, assistant("", reasoning_content="I need the tool.", tool_calls=one), tool("12 °C"), assistant("12.", reasoning_content="Done.")]
    yield "string_arguments", [USER, assistant("", tool_calls=[call("get_weather", "{\"city\": \"Z\\u00fcrich\"}")]), tool("12"), USER]
    yield "bad_arguments", [USER, assistant("", tool_calls=[call("get_weather", "{not json")]), tool("12")]
    yield "empty_arguments", [USER, assistant("", tool_calls=[call("now", {})]), tool("12:00", "now")]
    yield "odd_arguments", [USER, assistant("", tool_calls=[call("search", {"query": None, "filters": {"year": 1999.0, "tags": ["a", "é", "<x>"]}, "ids": [1, -2], "exact": True, "big": 12345678901234567890, "tiny": 1e-7})]), tool("[]", "search")]
    two = [call("get_weather", {"city": "A"}, "call00001"), call("search", {"query": "b\n\"c\""}, "call00002")]
    yield "parallel", [USER, assistant("", tool_calls=two), tool("1"), tool("2", "search", "call00002"), assistant("Both."), user("ok")]
    yield "parallel_pending", [USER, assistant(None, tool_calls=two), tool("1"), tool("2", "search", "call00002")]
    yield "tool_list_content", [USER, assistant("", tool_calls=one), {"role": "tool", "tool_call_id": "call00001", "name": "get_weather", "content": [{"type": "text", "text": "12"}]}]
    yield "tool_dict_content", [USER, assistant("", tool_calls=one), {"role": "tool", "name": "get_weather", "content": {"temp": 12.5, "ok": True}}]
    yield "tool_json_content", [USER, assistant("", tool_calls=one), tool("{\"temp\": 12.5, \"note\": \"é <b>\"}"), USER]
    yield "tool_without_call", [USER, tool("12")]
    yield "flat_calls", [USER, assistant("", tool_calls=[{"name": "get_weather", "arguments": {"city": "B"}}]), tool("3")]
    yield "empty_calls", [USER, assistant("No call.", tool_calls=[]), user("ok")]
    yield "null_calls", [USER, assistant("No call.", tool_calls=None), user("ok")]
    yield "short_id", [USER, assistant("", tool_calls=[call("get_weather", {"city": "C"}, "1")]), tool("x", cid="1")]
    loop = []
    for i in range(4):
        loop += [assistant(f"Step {i}", reasoning_content=f"thought {i}", tool_calls=[call("search", {"query": f"q{i}"}, f"call0000{i}")]), tool(f"result {i}", "search", f"call0000{i}")]
    yield "agent_loop", [SYSTEM, USER, *loop, assistant("Final.", reasoning_content="finished")]
    yield "agent_loop_pending", [SYSTEM, USER, *loop]
    yield "agent_two_tasks", [SYSTEM, USER, *loop, assistant("Final."), user("Next task"), *loop[:2]]


VARIABLES = [
    {"enable_thinking": False},
    {"enable_thinking": True},
    {"thinking": True},
    {"preserve_thinking": True},
    {"reasoning_effort": "high"},
    {"reasoning_effort": "none"},
    {"tool_choice": "required"},
    {"tool_choice": {"type": "function", "function": {"name": "search"}}},
    {"builtin_tools": ["browser", "python"]},
    {"builtin_tools": ["wolfram_alpha"], "tools_in_user_message": False},
    {"date_string": "01 Jan 2026", "custom_tools": None},
    {"model_identity": "You are a test.", "reasoning_effort": "low"},
    {"add_generation_prompt": False},
    {"bos_token": "", "eos_token": "<eos>"},
    {"documents": [{"title": "One", "text": "First text."}, {"doc_id": 2, "title": "Two", "text": "Zweiter \"Text\""}]},
    {"documents": []},
    {"tools": []},
    {"xml_tools": [WEATHER], "python_tools": ["x"]},
    {"system_prompt": "Fixed", "clear_thinking": False, "add_vision_id": True},
    {"continue_final_message": True, "add_generation_prompt": False},
]


def conversations():
    """(name, request) pairs: at least 150 of them."""
    tools = [WEATHER, SEARCH, NO_ARGS]
    for name, messages in itertools.chain(plain(), lists(), reasoning()):
        yield name, {"messages": messages}
    for name, messages in tool_turns():
        yield name, {"messages": messages, "tools": tools}
    for name, messages in itertools.islice(tool_turns(), 0, 12, 3):
        yield name + "_untold", {"messages": messages}
    for name, one in (("bare", [BARE_TOOL]), ("refs", [REFS_TOOL]), ("all", [*tools, REFS_TOOL])):
        yield f"tools_{name}", {"messages": [SYSTEM, USER], "tools": one}
        yield f"tools_{name}_no_system", {"messages": [USER], "tools": one}
    bases = [[SYSTEM, USER], list(dict(tool_turns())["agent_loop"]), [USER, assistant("Sunny.", reasoning_content="Hm."), user("Sure?")]]
    for i, variables in enumerate(VARIABLES):
        for j, base in enumerate(bases):
            request = {"messages": base, "tools": tools} if j == 1 else {"messages": base}
            yield f"variables_{i}_{j}", {**copy.deepcopy(request), **variables}
