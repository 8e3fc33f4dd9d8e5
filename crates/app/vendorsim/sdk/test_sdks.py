"""The vendors' own SDKs against the simulator: what they parse without complaint has the vendor's shape."""

import base64
import json

import anthropic
import ollama
import openai
import pytest
from conftest import anthropic_client, gemini_client, ollama_client, openai_client
from google.genai import errors as gemini_errors
from google.genai import types
from pydantic import BaseModel

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABh6FO1AAAAABJRU5ErkJggg=="
PNG_BYTES = base64.b64decode(PNG)
SEES = f"I see 1 image ({len(PNG_BYTES)} bytes)"

WEATHER = {
    "type": "object",
    "properties": {"town": {"type": "string"}, "unit": {"type": "string", "enum": ["c", "f"]}},
    "required": ["town", "unit"],
    "additionalProperties": False,
}
TWO_CALLS = "Use lookup_weather and then server_clock."


class Report(BaseModel):
    subject: str
    count: int
    tags: list[str]


def function(name, parameters):
    return {"type": "function", "function": {"name": name, "description": name, "parameters": parameters}}


OPENAI_TOOLS = [function("lookup_weather", WEATHER), function("server_clock", {"type": "object", "properties": {}})]


def user(content):
    return [{"role": "user", "content": content}]


# OpenAI, and xAI and compatible servers by OpenAI's SDK.

CHAT = [("openai", "gpt-4.1-mini"), ("xai", "grok-4.3"), ("compatible", "any-model")]


@pytest.mark.parametrize("vendor,model", CHAT)
def test_chat_answers(vendor, model):
    answer = openai_client(vendor).chat.completions.create(model=model, messages=user("Hello there"))
    assert answer.choices[0].message.content == f'Simulated answer of {model}: you said "Hello there".'
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage.prompt_tokens == 3
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens


@pytest.mark.parametrize("vendor,model", CHAT)
def test_chat_streams_what_it_answers(vendor, model):
    client = openai_client(vendor)
    whole = client.chat.completions.create(model=model, messages=user("Grüße aus 東京 🏯"))
    chunks = list(
        client.chat.completions.create(
            model=model, messages=user("Grüße aus 東京 🏯"), stream=True, stream_options={"include_usage": True}
        )
    )
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == whole.choices[0].message.content
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"
    assert chunks[-1].usage == whole.usage


@pytest.mark.parametrize("vendor,model", CHAT)
def test_chat_calls_tools_in_parallel_and_takes_their_results(vendor, model):
    client = openai_client(vendor)
    first = client.chat.completions.create(model=model, messages=user(TWO_CALLS), tools=OPENAI_TOOLS).choices[0]
    assert first.finish_reason == "tool_calls"
    assert [c.function.name for c in first.message.tool_calls] == ["lookup_weather", "server_clock"]
    assert json.loads(first.message.tool_calls[0].function.arguments) == {"town": "simulated ✓", "unit": "c"}
    results = [{"role": "tool", "tool_call_id": c.id, "content": "noon"} for c in first.message.tool_calls]
    messages = user(TWO_CALLS) + [first.message.model_dump(exclude_none=True)] + results
    second = client.chat.completions.create(model=model, messages=messages, tools=OPENAI_TOOLS)
    assert "The tools returned: noon | noon." in second.choices[0].message.content


@pytest.mark.parametrize("vendor,model", CHAT[:2])
def test_chat_stream_helper_assembles_tool_calls(vendor, model):
    with openai_client(vendor).chat.completions.stream(
        model=model, messages=user(TWO_CALLS), tools=OPENAI_TOOLS
    ) as stream:
        final = stream.get_final_completion().choices[0]
    assert final.finish_reason == "tool_calls"
    calls = {c.function.name: json.loads(c.function.arguments) for c in final.message.tool_calls}
    assert calls == {"lookup_weather": {"town": "simulated ✓", "unit": "c"}, "server_clock": {}}


@pytest.mark.parametrize("vendor,model", CHAT)
def test_chat_fills_a_schema(vendor, model):
    answer = openai_client(vendor).chat.completions.parse(
        model=model, messages=user("Report"), response_format=Report
    )
    assert answer.choices[0].message.parsed == Report(subject="simulated ✓", count=1, tags=["simulated ✓"])


@pytest.mark.parametrize("vendor,model", CHAT)
def test_chat_sees_images(vendor, model):
    parts = [
        {"type": "text", "text": "Look"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}},
    ]
    answer = openai_client(vendor).chat.completions.create(model=model, messages=user(parts))
    assert SEES in answer.choices[0].message.content


@pytest.mark.parametrize("vendor,model", CHAT)
def test_chat_ends_for_length(vendor, model):
    answer = openai_client(vendor).chat.completions.create(model=model, messages=user("Hello"), max_tokens=3)
    assert answer.choices[0].message.content == "Simulated an"
    assert (answer.choices[0].finish_reason, answer.usage.completion_tokens) == ("length", 3)


def test_openai_counts_reasoning_inside_and_xai_beside():
    inside = openai_client().chat.completions.create(
        model="gpt-5.2", messages=user("Think"), reasoning_effort="high"
    ).usage
    assert inside.completion_tokens_details.reasoning_tokens == 32
    assert inside.total_tokens == inside.prompt_tokens + inside.completion_tokens
    answer = openai_client("xai").chat.completions.create(
        model="grok-4.7", messages=user("Think"), reasoning_effort="high"
    )
    beside = answer.usage
    assert beside.total_tokens == beside.prompt_tokens + beside.completion_tokens + 32
    assert answer.choices[0].message.reasoning_content.startswith("Thinking")


def test_openai_embeddings_by_floats_and_base64():
    client = openai_client()
    plain = client.embeddings.create(
        model="text-embedding-3-small", input=["one two", "three"], encoding_format="float", dimensions=8
    )
    packed = client.embeddings.create(model="text-embedding-3-small", input=["one two", "three"], dimensions=8)
    assert [d.index for d in plain.data] == [0, 1]
    assert packed.data[0].embedding == pytest.approx(plain.data[0].embedding)
    assert plain.usage.prompt_tokens == 4


def test_openai_lists_models_and_counts_tokens():
    client = openai_client()
    assert "gpt-6-sol" in [m.id for m in client.models.list()]
    assert client.models.retrieve("gpt-6-sol").id == "gpt-6-sol"
    assert client.responses.input_tokens.count(model="gpt-6-sol", input="Hello there").input_tokens == 3


def test_responses_answer_with_reasoning():
    answer = openai_client().responses.create(
        model="gpt-6-sol", instructions="Be brief.", input="Hello", reasoning={"effort": "low", "summary": "auto"}
    )
    assert answer.output_text == 'Simulated answer of gpt-6-sol: you said "Hello".'
    assert answer.output[0].summary[0].text.startswith("Thinking")
    assert answer.usage.output_tokens_details.reasoning_tokens == 8
    assert answer.status == "completed"


def test_responses_stream_tools_and_text():
    client = openai_client()
    tools = [{"type": "function", "name": "lookup_weather", "parameters": WEATHER, "strict": True}]
    with client.responses.stream(model="gpt-6-sol", input="Use lookup_weather.", tools=tools) as stream:
        numbers = [event.sequence_number for event in stream]
        first = stream.get_final_response()
    assert numbers == list(range(len(numbers)))
    call = next(item for item in first.output if item.type == "function_call")
    assert json.loads(call.arguments) == {"town": "simulated ✓", "unit": "c"}
    history = [
        {"role": "user", "content": "Use lookup_weather."},
        {"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments},
        {"type": "function_call_output", "call_id": call.call_id, "output": "rain"},
    ]
    with client.responses.stream(model="gpt-6-sol", input=history, tools=tools) as stream:
        for _ in stream:
            pass
        assert "The tools returned: rain." in stream.get_final_response().output_text


def test_responses_fill_a_schema_see_images_and_end_for_length():
    client = openai_client()
    parsed = client.responses.parse(model="gpt-6-sol", input="Report", text_format=Report)
    assert parsed.output_parsed == Report(subject="simulated ✓", count=1, tags=["simulated ✓"])
    parts = [
        {"type": "input_text", "text": "Look"},
        {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}"},
    ]
    assert SEES in client.responses.create(model="gpt-6-sol", input=user(parts)).output_text
    cut = client.responses.create(model="gpt-6-sol", input="Hello " * 30, max_output_tokens=16)
    assert (cut.status, cut.incomplete_details.reason) == ("incomplete", "max_output_tokens")


@pytest.mark.parametrize(
    "arguments,param",
    [
        ({"model": "gpt-6-sol", "max_tokens": 5}, "max_tokens"),
        ({"model": "gpt-6-sol", "temperature": 0.2}, "temperature"),
        ({"model": "gpt-6-sol", "stop": ["x"]}, "stop"),
        ({"model": "gpt-6-sol", "tools": OPENAI_TOOLS}, "reasoning_effort"),
        ({"model": "gpt-4o", "reasoning_effort": "low"}, "reasoning_effort"),
        ({"model": "gpt-4o", "extra_body": {"surprise": 1}}, "surprise"),
    ],
)
def test_openai_refuses_what_the_model_does_not_take(arguments, param):
    with pytest.raises(openai.BadRequestError) as refused:
        openai_client().chat.completions.create(messages=user("Hello"), **arguments)
    assert refused.value.param == param


@pytest.mark.parametrize("vendor,model,error", [
    ("openai", "gpt-4o", openai.AuthenticationError),
    ("xai", "grok-4.3", openai.BadRequestError),
])
def test_a_bad_key_is_refused(vendor, model, error):
    with pytest.raises(error) as refused:
        openai_client(vendor, key="bad-key").chat.completions.create(model=model, messages=user("Hello"))
    assert "Incorrect API key" in refused.value.response.text


@pytest.mark.parametrize("vendor,model", CHAT[:2])
def test_rate_limits_and_missing_models(vendor, model, fault):
    client = openai_client(vendor)
    with pytest.raises(openai.NotFoundError):
        client.chat.completions.create(model="nobody-9", messages=user("Hello"))
    fault(vendor, "status=429,retry-after=7")
    with pytest.raises(openai.RateLimitError) as limited:
        client.chat.completions.create(model=model, messages=user("Hello"))
    assert limited.value.response.headers["retry-after"] == "7"
    assert limited.value.response.headers["x-ratelimit-remaining-requests"] == "0"


def test_openai_error_within_a_stream(fault):
    fault("openai", "error=3")
    stream = openai_client().chat.completions.create(model="gpt-4o", messages=user("Hello"), stream=True)
    with pytest.raises(openai.APIError, match="server had an error"):
        list(stream)


def test_xai_refuses_stop_for_models_that_reason():
    with pytest.raises(openai.BadRequestError) as refused:
        openai_client("xai").chat.completions.create(model="grok-4.3", messages=user("Hello"), stop=["x"])
    assert refused.value.response.json() == {
        "code": "Client specified an invalid argument", "error": "Argument not supported on this model: stop"
    }


# Anthropic.

CLAUDE = "claude-sonnet-5-5"
CLAUDE_TOOLS = [
    {"name": "lookup_weather", "input_schema": WEATHER},
    {"name": "server_clock", "input_schema": {"type": "object", "properties": {}}},
]


def claude(**arguments):
    return anthropic_client().messages.create(**{"model": CLAUDE, "max_tokens": 200, **arguments})


def test_anthropic_answers():
    answer = claude(messages=user("Hello there"), system="Be brief.")
    assert answer.content[0].text.startswith(f'Simulated answer of {CLAUDE}: you said "Hello there".')
    assert (answer.stop_reason, answer.usage.input_tokens) == ("end_turn", 6)


def test_anthropic_streams_what_it_answers():
    whole = claude(messages=user("Grüße aus 東京 🏯"))
    with anthropic_client().messages.stream(model=CLAUDE, max_tokens=200, messages=user("Grüße aus 東京 🏯")) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert text == whole.content[0].text
    assert final.usage.output_tokens == whole.usage.output_tokens
    assert final.stop_reason == "end_turn"


def test_anthropic_thinks_calls_tools_and_takes_its_blocks_back():
    arguments = {"tools": CLAUDE_TOOLS, "thinking": {"type": "adaptive"}, "model": CLAUDE, "max_tokens": 400}
    with anthropic_client().messages.stream(messages=user(TWO_CALLS), **arguments) as stream:
        first = stream.get_final_message()
    assert [block.type for block in first.content] == ["thinking", "text", "tool_use", "tool_use"]
    assert first.stop_reason == "tool_use"
    assert first.content[2].input == {"town": "simulated ✓", "unit": "c"}
    assert first.content[3].input == {}
    assert first.usage.output_tokens_details.thinking_tokens == 16
    results = [{"type": "tool_result", "tool_use_id": b.id, "content": "noon"} for b in first.content[2:]]
    history = user(TWO_CALLS) + [{"role": "assistant", "content": first.content}, {"role": "user", "content": results}]
    second = anthropic_client().messages.create(messages=history, **arguments)
    assert "The tools returned: noon | noon." in second.content[-1].text

    first.content[0].thinking += " tampered"
    with pytest.raises(anthropic.BadRequestError, match="Invalid `signature`"):
        anthropic_client().messages.create(messages=history, **arguments)


def test_anthropic_fills_a_schema_and_sees_images():
    schema = {**Report.model_json_schema(), "additionalProperties": False}
    answer = claude(
        messages=user("Report"), output_config={"format": {"type": "json_schema", "schema": schema}}
    )
    assert Report.model_validate_json(answer.content[0].text).count == 1
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    assert SEES in claude(messages=user([image, {"type": "text", "text": "Look"}])).content[0].text


def test_anthropic_ends_for_length_and_for_a_stop_sequence():
    cut = claude(messages=user("Hello"), max_tokens=3)
    assert (cut.stop_reason, cut.usage.output_tokens) == ("max_tokens", 3)
    stopped = claude(messages=user("Hello"), stop_sequences=["answer"])
    assert (stopped.stop_reason, stopped.stop_sequence) == ("stop_sequence", "answer")
    assert stopped.content[0].text == "Simulated "


def test_anthropic_counts_the_cache_beside_the_input():
    block = {"type": "text", "text": "rule " * 2000, "cache_control": {"type": "ephemeral"}}
    usage = claude(messages=user("Hello"), system=[block]).usage
    parts = usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens
    assert parts == 2500 + 2
    assert usage.cache_read_input_tokens == 1152


def test_anthropic_counts_tokens_and_lists_models():
    client = anthropic_client()
    assert client.messages.count_tokens(model=CLAUDE, messages=user("Hello there")).input_tokens == 3
    assert CLAUDE in [m.id for m in client.models.list(limit=2)]


@pytest.mark.parametrize(
    "arguments,message",
    [
        ({"temperature": 0.5}, "temperature: Extra inputs are not permitted"),
        ({"extra_body": {"surprise": 1}}, "surprise: Extra inputs are not permitted"),
        ({"messages": [{"role": "system", "content": "x"}]}, "Unexpected role"),
        ({"messages": user("Hello") + [{"role": "assistant", "content": "Well"}]}, "prefill"),
        ({"tools": CLAUDE_TOOLS, "tool_choice": {"type": "any"}}, "not supported for this model"),
        (
            {"messages": user([{"type": "tool_result", "tool_use_id": "toolu_x", "content": "y"}])},
            "unexpected `tool_use_id`",
        ),
    ],
)
def test_anthropic_refuses_what_breaks_its_rules(arguments, message):
    body = arguments.pop("extra_body", {})
    # The SDK no longer has the sampling parameters; an old caller may still send them.
    if "temperature" in arguments:
        body["temperature"] = arguments.pop("temperature")
    with pytest.raises(anthropic.BadRequestError, match=message):
        claude(**{"messages": user("Hello"), **arguments}, extra_body=body)


def test_anthropic_errors_have_their_types(fault):
    with pytest.raises(anthropic.AuthenticationError):
        anthropic_client(key="bad-key").messages.create(model=CLAUDE, max_tokens=9, messages=user("Hello"))
    with pytest.raises(anthropic.NotFoundError):
        claude(model="claude-does-not-exist", messages=user("Hello"))
    fault("anthropic", "status=429,retry-after=7")
    with pytest.raises(anthropic.RateLimitError) as limited:
        claude(messages=user("Hello"))
    assert limited.value.response.headers["retry-after"] == "7"
    assert limited.value.response.headers["anthropic-ratelimit-requests-remaining"] == "0"


def test_anthropic_overload_comes_as_529_or_within_the_stream(fault):
    fault("anthropic", "error=2")
    with pytest.raises(anthropic.APIStatusError, match="Overloaded"):
        with anthropic_client().messages.stream(model=CLAUDE, max_tokens=99, messages=user("Hello")) as stream:
            stream.get_final_message()
    with pytest.raises(anthropic.APIStatusError) as overloaded:
        anthropic_client().messages.create(
            model=CLAUDE, max_tokens=9, messages=user("Hello"), extra_headers={"x-vendorsim-fault": "status=529"}
        )
    assert overloaded.value.status_code == 529


# Gemini.

GEMINI = "gemini-3.8-flash"
GEMINI_TOOLS = [
    types.Tool(
        function_declarations=[
            types.FunctionDeclaration(name="lookup_weather", parameters_json_schema=WEATHER),
            types.FunctionDeclaration(name="server_clock"),
        ]
    )
]


def gemini_config(**arguments):
    automatic = types.AutomaticFunctionCallingConfig(disable=True)
    return types.GenerateContentConfig(automatic_function_calling=automatic, **arguments)


def gemini(contents, **arguments):
    return gemini_client().models.generate_content(model=GEMINI, contents=contents, config=gemini_config(**arguments))


def test_gemini_answers():
    answer = gemini("Hello there", system_instruction="Be brief.")
    assert answer.text == f'Simulated answer of {GEMINI}: you said "Hello there".'
    assert answer.candidates[0].finish_reason == types.FinishReason.STOP
    assert answer.usage_metadata.prompt_token_count == 6
    assert answer.candidates[0].content.parts[-1].thought_signature


def test_gemini_streams_what_it_answers():
    whole = gemini("Grüße aus 東京 🏯")
    chunks = list(gemini_client().models.generate_content_stream(model=GEMINI, contents="Grüße aus 東京 🏯"))
    assert "".join(c.text or "" for c in chunks) == whole.text
    assert chunks[-1].usage_metadata.total_token_count == whole.usage_metadata.total_token_count
    assert chunks[-1].candidates[0].finish_reason == types.FinishReason.STOP


def test_gemini_calls_tools_and_wants_its_signature_back():
    first = gemini(TWO_CALLS, tools=GEMINI_TOOLS)
    assert [c.name for c in first.function_calls] == ["lookup_weather", "server_clock"]
    assert first.function_calls[0].args == {"town": "simulated ✓", "unit": "c"}
    turn = first.candidates[0].content
    results = [
        types.Part(function_response=types.FunctionResponse(id=c.id, name=c.name, response={"output": "noon"}))
        for c in first.function_calls
    ]
    history = [
        types.Content(role="user", parts=[types.Part(text=TWO_CALLS)]), turn, types.Content(role="user", parts=results)
    ]
    assert "The tools returned:" in gemini(history, tools=GEMINI_TOOLS).text
    for part in turn.parts:
        part.thought_signature = None
    with pytest.raises(gemini_errors.ClientError, match="thought_signature"):
        gemini(history, tools=GEMINI_TOOLS)


def test_gemini_fills_a_schema_and_sees_images():
    parsed = gemini("Report", response_mime_type="application/json", response_schema=Report).parsed
    assert parsed == Report(subject="simulated ✓", count=1, tags=["simulated ✓"])
    image = types.Part.from_bytes(data=PNG_BYTES, mime_type="image/png")
    assert SEES in gemini([image, "Look"]).text


def test_gemini_counts_thoughts_beside_the_answer():
    answer = gemini("Think", thinking_config=types.ThinkingConfig(thinking_level="low", include_thoughts=True))
    usage = answer.usage_metadata
    assert usage.thoughts_token_count == 8
    total = usage.prompt_token_count + usage.candidates_token_count + usage.thoughts_token_count
    assert usage.total_token_count == total
    assert answer.candidates[0].content.parts[0].thought


def test_gemini_ends_for_length():
    answer = gemini("Hello", max_output_tokens=3)
    assert (answer.text, answer.candidates[0].finish_reason) == ("Simulated an", types.FinishReason.MAX_TOKENS)


def test_gemini_embeds_counts_and_lists():
    client = gemini_client()
    config = types.EmbedContentConfig(output_dimensionality=8)
    vectors = client.models.embed_content(model="gemini-embedding-001", contents=["one two", "three"], config=config)
    assert [len(e.values) for e in vectors.embeddings] == [8, 8]
    assert client.models.count_tokens(model=GEMINI, contents="Hello there").total_tokens == 3
    assert f"models/{GEMINI}" in [m.name for m in client.models.list(config={"page_size": 5})]


def test_gemini_errors_have_their_codes(fault):
    with pytest.raises(gemini_errors.ClientError, match="API key not valid"):
        gemini_client(key="bad-key").models.generate_content(model=GEMINI, contents="Hello")
    with pytest.raises(gemini_errors.ClientError) as missing:
        gemini_client().models.generate_content(model="gemini-9-zz", contents="Hello")
    assert missing.value.code == 404
    with pytest.raises(gemini_errors.ClientError, match="Penalty is not enabled"):
        gemini("Hello", presence_penalty=0.5)
    fault("gemini", "status=429,retry-after=7")
    with pytest.raises(gemini_errors.ClientError) as limited:
        gemini("Hello")
    assert (limited.value.code, limited.value.status) == (429, "RESOURCE_EXHAUSTED")
    assert limited.value.details["error"]["details"][-1]["retryDelay"] == "7s"


# Ollama.

OLLAMA = "llama3.1:8b"


def test_ollama_answers():
    answer = ollama_client().chat(model=OLLAMA, messages=user("Hello there"))
    assert answer.message.content == f'Simulated answer of {OLLAMA}: you said "Hello there".'
    assert (answer.done_reason, answer.prompt_eval_count) == ("stop", 3)


def test_ollama_streams_what_it_answers():
    whole = ollama_client().chat(model=OLLAMA, messages=user("Grüße aus 東京 🏯"))
    lines = list(ollama_client().chat(model=OLLAMA, messages=user("Grüße aus 東京 🏯"), stream=True))
    assert "".join(line.message.content for line in lines) == whole.message.content
    assert (lines[-1].done, lines[-1].eval_count) == (True, whole.eval_count)


def test_ollama_calls_tools_and_takes_their_results():
    lines = list(ollama_client().chat(model=OLLAMA, messages=user(TWO_CALLS), tools=OPENAI_TOOLS, stream=True))
    calls = [call for line in lines for call in line.message.tool_calls or []]
    assert [call.function.name for call in calls] == ["lookup_weather", "server_clock"]
    assert dict(calls[0].function.arguments) == {"town": "simulated ✓", "unit": "c"}
    assert lines[-1].done_reason == "stop"
    whole = ollama_client().chat(model=OLLAMA, messages=user(TWO_CALLS), tools=OPENAI_TOOLS)
    results = [{"role": "tool", "tool_name": c.function.name, "content": "noon"} for c in calls]
    history = user(TWO_CALLS) + [whole.message] + results
    second = ollama_client().chat(model=OLLAMA, messages=history, tools=OPENAI_TOOLS)
    assert "The tools returned: noon | noon." in second.message.content


def test_ollama_thinks_fills_a_schema_sees_images_and_ends_for_length():
    client = ollama_client()
    thought = client.chat(model="qwen3:8b", messages=user("Think"), think=True)
    assert thought.message.thinking.startswith("Thinking")
    filled = client.chat(model=OLLAMA, messages=user("Report"), format=Report.model_json_schema())
    assert Report.model_validate_json(filled.message.content).count == 1
    picture = [{"role": "user", "content": "Look", "images": [PNG_BYTES]}]
    assert SEES in client.chat(model="gemma3:4b", messages=picture).message.content
    cut = client.chat(model=OLLAMA, messages=user("Hello"), options={"num_predict": 3})
    assert (cut.done_reason, cut.eval_count) == ("length", 3)


def test_ollama_embeds_lists_and_shows():
    client = ollama_client()
    vectors = client.embed(model="nomic-embed-text", input=["one two", "three"])
    assert [len(v) for v in vectors.embeddings] == [768, 768]
    assert len(client.embeddings(model="nomic-embed-text", prompt="one two").embedding) == 768
    assert OLLAMA in [m.model for m in client.list().models]
    assert "tools" in client.show(OLLAMA).capabilities
    assert client.ps().models[0].model == OLLAMA


def test_ollama_errors_have_their_status(fault):
    for arguments, status in [
        ({"model": "llama9"}, 404),
        ({"model": "gemma3:4b", "tools": OPENAI_TOOLS}, 400),
        ({"model": OLLAMA, "think": True}, 400),
    ]:
        with pytest.raises(ollama.ResponseError) as refused:
            ollama_client().chat(messages=user("Hello"), **arguments)
        assert refused.value.status_code == status
    with pytest.raises(ollama.ResponseError) as refused:
        ollama_client(headers={"authorization": "Bearer bad-key"}).chat(model=OLLAMA, messages=user("Hello"))
    assert refused.value.status_code == 401
    fault("ollama", "status=429")
    with pytest.raises(ollama.ResponseError) as refused:
        ollama_client().chat(model=OLLAMA, messages=user("Hello"))
    assert refused.value.status_code == 429


def test_ollama_error_within_a_stream(fault):
    fault("ollama", "error=2")
    with pytest.raises(ollama.ResponseError, match="an error was encountered"):
        list(ollama_client().chat(model=OLLAMA, messages=user("Hello"), stream=True))
