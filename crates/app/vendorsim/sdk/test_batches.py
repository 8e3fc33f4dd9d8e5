"""The vendors' own SDKs hand batches to the simulator, wait for them, read and stop them."""

import io
import json

import anthropic
import openai
import pytest
from conftest import anthropic_client, control, gemini_client, openai_client
from google.genai import errors as gemini_errors
from google.genai import types


def user(content):
    return [{"role": "user", "content": content}]


def echo(model, text):
    return f'Simulated answer of {model}: you said "{text}".'


@pytest.fixture
def rule():
    """Lets a fault strike in one place until the test is over, and lets all batches go at the end."""

    def set_rule(vendor, place, spec):
        control("POST", "faults", {"vendor": vendor, "place": place, "fault": spec})

    yield set_rule
    control("DELETE", "faults")
    control("POST", "batches/release")


# OpenAI, and xAI's files by OpenAI's SDK.

GPT = "gpt-4.1-mini"


def line(custom_id, body, url="/v1/chat/completions"):
    return json.dumps({"custom_id": custom_id, "method": "POST", "url": url, "body": body})


def chat(text, model=GPT):
    return {"model": model, "messages": user(text)}


def openai_batch(lines, endpoint="/v1/chat/completions"):
    client = openai_client()
    file = client.files.create(file=("in.jsonl", "\n".join(lines).encode()), purpose="batch")
    assert (file.purpose, file.status, file.filename) == ("batch", "processed", "in.jsonl")
    return client.batches.create(
        input_file_id=file.id, endpoint=endpoint, completion_window="24h", metadata={"key": "window-7"}
    )


def openai_lines(file_id):
    lines = openai_client().files.content(file_id).text.splitlines()
    return {entry["custom_id"]: entry for entry in map(json.loads, lines)}


def test_openai_answers_a_batch():
    client = openai_client()
    batch = openai_batch([line("a", chat("one")), line("b", chat("two", GPT + "~status=500")), line("c", chat("three"))])
    assert (batch.status, batch.request_counts.total, batch.output_file_id) == ("validating", 0, None)
    batch = client.batches.retrieve(batch.id)
    assert batch.status == "completed"
    assert (batch.request_counts.completed, batch.request_counts.failed) == (2, 1)
    assert batch.metadata == {"key": "window-7"}
    output = openai_lines(batch.output_file_id)
    assert set(output) == {"a", "c"}
    body = output["c"]["response"]["body"]
    assert body["choices"][0]["message"]["content"] == echo(GPT, "three")
    assert batch.usage.output_tokens == sum(e["response"]["body"]["usage"]["completion_tokens"] for e in output.values())
    failed = openai_lines(batch.error_file_id)["b"]
    assert (failed["response"]["status_code"], failed["error"]) == (500, None)
    assert batch.id in [b.id for b in client.batches.list(limit=1)]
    assert client.files.delete(batch.output_file_id).deleted
    with pytest.raises(openai.NotFoundError, match="No such File object"):
        client.files.content(batch.output_file_id)


def test_openai_embeds_a_batch():
    body = {"model": "text-embedding-3-small", "input": ["x", "y"], "dimensions": 8}
    batch = openai_batch([line("a", body, "/v1/embeddings")], "/v1/embeddings")
    batch = openai_client().batches.retrieve(batch.id)
    data = openai_lines(batch.output_file_id)["a"]["response"]["body"]["data"]
    assert [len(d["embedding"]) for d in data] == [8, 8]


def test_openai_stops_a_batch_and_keeps_what_was_done(rule):
    client = openai_client()
    rule("openai", "create", "hold=1")
    batch = openai_batch([line("a", chat("one")), line("b", chat("two"))])
    batch = client.batches.retrieve(batch.id)
    assert (batch.status, batch.request_counts.completed, batch.request_counts.total) == ("in_progress", 1, 2)
    assert client.batches.cancel(batch.id).status == "cancelling"
    batch = client.batches.retrieve(batch.id)
    assert batch.status == "cancelled"
    assert set(openai_lines(batch.output_file_id)) == {"a"}
    assert openai_lines(batch.error_file_id)["b"]["error"]["code"] == "batch_cancelled"
    with pytest.raises(openai.ConflictError, match="Cannot cancel a batch with status 'cancelled'"):
        client.batches.cancel(batch.id)


def test_openai_gives_up_on_a_batch(rule):
    rule("openai", "create", "expire=1")
    batch = openai_batch([line("a", chat("one")), line("b", chat("two"))])
    batch = openai_client().batches.retrieve(batch.id)
    assert (batch.status, batch.request_counts.completed, batch.request_counts.failed) == ("expired", 1, 1)
    assert openai_lines(batch.error_file_id)["b"]["error"]["code"] == "batch_expired"


@pytest.mark.parametrize(
    "lines,code,number",
    [
        (["{"], "invalid_json_line", 1),
        ([line("a", chat("x")), line("a", chat("y"))], "duplicate_custom_id", 2),
        ([line("a", chat("x")), line("b", chat("y", "gpt-4o"))], "mismatched_model", 2),
        ([line("a", chat("x"), "/v1/embeddings")], "invalid_url", 1),
        ([line("a", chat("x", "gpt-0"))], "model_not_found", 1),
    ],
)
def test_openai_refuses_a_file_whole(lines, code, number):
    batch = openai_client().batches.retrieve(openai_batch(lines).id)
    assert (batch.status, batch.request_counts.total, batch.output_file_id) == ("failed", 0, None)
    assert [(e.code, e.line) for e in batch.errors.data] == [(code, number)]


def test_openai_refuses_calls_that_are_wrong():
    client = openai_client()
    with pytest.raises(openai.BadRequestError, match="Must be .jsonl"):
        client.files.create(file=("in.txt", b"{}"), purpose="batch")
    with pytest.raises(openai.BadRequestError, match="No such File object"):
        client.batches.create(input_file_id="file-x", endpoint="/v1/embeddings", completion_window="24h")
    with pytest.raises(openai.NotFoundError):
        client.batches.retrieve("batch_x")
    with pytest.raises(openai.AuthenticationError):
        openai_client(key="bad-key").batches.list()


# xAI: its own SDK speaks gRPC, so OpenAI's carries the files and the bare calls.

GROK = "grok-4.3"


def xai_get(path):
    return openai_client("xai").get(path, cast_to=object)


def xai_batch(lines):
    client = openai_client("xai")
    file = client.files.create(file=("in.jsonl", "\n".join(lines).encode()), purpose="batch")
    return client.post("/batches", body={"name": "window-7", "input_file_id": file.id}, cast_to=object)


def test_xai_answers_a_batch_by_pages():
    batch = xai_batch([line(f"r{n}", chat(f"n{n}", GROK)) for n in range(3)] + [line("bad", chat("x", "grok-4.5"))])
    assert (batch["name"], batch["state"]["num_requests"]) == ("window-7", 0)
    batch = xai_get(f"/batches/{batch['batch_id']}")
    assert batch["state"] == {"num_requests": 4, "num_pending": 0, "num_success": 3, "num_error": 1, "num_cancelled": 0}
    assert batch["cancel_time"] is None and "status" not in batch
    results, token = [], ""
    while token is not None:
        page = xai_get(f"/batches/{batch['batch_id']}/results?limit=3&pagination_token={token}")
        results, token = results + page["results"], page["pagination_token"]
    results = {r["batch_request_id"]: r["batch_result"] for r in results}
    body = results["r2"]["response"]["chat_get_completion"]
    assert body["choices"][0]["message"]["content"] == echo(GROK, "n2")
    assert results["bad"]["error"] == {"code": 3, "message": "Model grok-4.5 does not support batch requests."}
    assert batch["batch_id"] in [b["batch_id"] for b in xai_get("/batches?limit=1")["batches"]]


def test_xai_shows_results_while_it_works_and_stops(rule):
    rule("xai", "create", "hold=1")
    path = f"/batches/{xai_batch([line('a', chat('x', GROK)), line('b', chat('y', GROK))])['batch_id']}"
    assert xai_get(path)["state"]["num_pending"] == 1
    assert [r["batch_request_id"] for r in xai_get(f"{path}/results")["results"]] == ["a"]
    assert openai_client("xai").post(f"{path}:cancel", cast_to=object)["cancel_time"]
    assert xai_get(path)["state"] == {
        "num_requests": 2, "num_pending": 0, "num_success": 1, "num_error": 0, "num_cancelled": 1
    }


def test_xai_refuses_a_file_whole():
    batch = xai_get(f"/batches/{xai_batch(['{'])['batch_id']}")
    assert batch["cancel_by_xai_message"].startswith("Input file failed validation")
    assert batch["cancel_time"]


def test_xai_takes_requests_one_by_one():
    client = openai_client("xai")
    batch = client.post("/batches", body={"name": "by hand"}, cast_to=object)
    request = {"batch_request_id": "a", "batch_request": {"chat_get_completion": chat("x", GROK)}}
    path = f"/batches/{batch['batch_id']}"
    client.post(f"{path}/requests", body={"batch_requests": [request]}, cast_to=object)
    assert xai_get(path)["state"]["num_success"] == 1


# Anthropic.

CLAUDE = "claude-haiku-5-5"


def message(custom_id, text, **params):
    return {"custom_id": custom_id, "params": {"model": CLAUDE, "max_tokens": 64, "messages": user(text), **params}}


def batches():
    return anthropic_client().messages.batches


def test_anthropic_answers_a_batch():
    requests = [message("a", "one"), message("b", "two", max_tokens=0), message("c", "x", model="gone")]
    batch = batches().create(requests=requests)
    assert (batch.processing_status, batch.request_counts.processing, batch.results_url) == ("in_progress", 3, None)
    batch = batches().retrieve(batch.id)
    assert batch.processing_status == "ended"
    assert (batch.request_counts.succeeded, batch.request_counts.errored, batch.request_counts.processing) == (1, 2, 0)
    results = {r.custom_id: r.result for r in batches().results(batch.id)}
    answer = results["a"].message
    assert answer.content[0].text.startswith(echo(CLAUDE, "one"))
    assert answer.usage.service_tier == "batch"
    assert results["b"].error.error.message == "max_tokens: must be greater than or equal to 1"
    assert results["c"].error.error.type == "not_found_error"
    assert batches().list(limit=1).data[0].id == batch.id
    assert batches().delete(batch.id).type == "message_batch_deleted"
    with pytest.raises(anthropic.NotFoundError):
        batches().retrieve(batch.id)


def test_anthropic_tells_nothing_before_the_end_and_keeps_what_was_done(rule):
    rule("anthropic", "create", "hold=1")
    batch = batches().create(requests=[message("a", "one"), message("b", "two")])
    batch = batches().retrieve(batch.id)
    assert (batch.request_counts.processing, batch.request_counts.succeeded) == (2, 0)
    with pytest.raises(anthropic.BadRequestError, match="cannot be deleted"):
        batches().delete(batch.id)
    assert batches().cancel(batch.id).processing_status == "canceling"
    batch = batches().retrieve(batch.id)
    assert (batch.processing_status, batch.request_counts.succeeded, batch.request_counts.canceled) == ("ended", 1, 1)
    assert {r.custom_id: r.result.type for r in batches().results(batch.id)} == {"a": "succeeded", "b": "canceled"}


def test_anthropic_gives_up_on_a_batch(rule):
    rule("anthropic", "create", "expire=0")
    batch = batches().create(requests=[message("a", "one")])
    assert batches().retrieve(batch.id).request_counts.expired == 1
    assert [r.result.type for r in batches().results(batch.id)] == ["expired"]


@pytest.mark.parametrize(
    "requests,problem",
    [
        ([], "at least 1 item"),
        ([message("a", "x"), message("a", "y")], "requests.1.custom_id: Duplicate"),
        ([message("no blanks", "x")], "requests.0.custom_id: String should match pattern"),
    ],
)
def test_anthropic_refuses_a_batch_at_once(requests, problem):
    with pytest.raises(anthropic.BadRequestError, match=problem):
        batches().create(requests=requests)


def test_anthropic_pages_its_list_both_ways():
    made = [batches().create(requests=[message("a", str(n))]).id for n in range(3)]
    page = batches().list(limit=2)
    assert ([b.id for b in page.data], page.has_more) == ([made[2], made[1]], True)
    assert page.get_next_page().data[0].id == made[0]
    assert [b.id for b in batches().list(before_id=made[0], limit=1).data] == [made[1]]


# Gemini.

GEMINI = "gemini-3.8-flash"


def inlined(*texts):
    return [types.InlinedRequest(contents=text, metadata={"key": text}) for text in texts]


def gemini_batch(src, model=GEMINI, **config):
    return gemini_client().batches.create(model=model, src=src, config={"display_name": "window-7", **config})


def test_gemini_answers_an_inlined_batch():
    client = gemini_client()
    batch = gemini_batch(inlined("one", "two"))
    assert (batch.display_name, batch.state) == ("window-7", types.JobState.JOB_STATE_PENDING)
    batch = client.batches.get(name=batch.name)
    assert batch.state == types.JobState.JOB_STATE_SUCCEEDED
    assert [r.response.text for r in batch.dest.inlined_responses] == [echo(GEMINI, "one"), echo(GEMINI, "two")]
    assert [r.metadata["key"] for r in batch.dest.inlined_responses] == ["one", "two"]
    assert batch.name in [b.name for b in client.batches.list(config={"page_size": 1}).page]
    client.batches.delete(name=batch.name)
    with pytest.raises(gemini_errors.ClientError, match="not found"):
        client.batches.get(name=batch.name)


def test_gemini_fails_items_alone():
    config = types.GenerateContentConfig(presence_penalty=0.5)
    requests = inlined("one") + [types.InlinedRequest(contents="two", config=config)]
    batch = gemini_client().batches.get(name=gemini_batch(requests).name)
    assert batch.state == types.JobState.JOB_STATE_SUCCEEDED
    assert batch.dest.inlined_responses[1].error.code == 3


def test_gemini_answers_a_file_with_a_file():
    client = gemini_client()
    lines = [json.dumps({"key": k, "request": {"contents": [{"parts": [{"text": k}]}]}}) for k in ("one", "two")]
    file = client.files.upload(
        file=io.BytesIO("\n".join(lines).encode()), config={"mime_type": "jsonl", "display_name": "in"}
    )
    assert (file.display_name, file.state) == ("in", types.FileState.ACTIVE)
    batch = client.batches.get(name=gemini_batch(file.name).name)
    output = client.files.download(file=batch.dest.file_name).decode()
    answers = {entry["key"]: entry["response"] for entry in map(json.loads, output.splitlines())}
    assert answers["two"]["candidates"][0]["content"]["parts"][0]["text"] == echo(GEMINI, "two")


@pytest.mark.filterwarnings("ignore:batches.create_embeddings")
def test_gemini_embeds_a_batch():
    client = gemini_client()
    batch = client.batches.create_embeddings(
        model="gemini-embedding-001",
        src={"inlined_requests": {"contents": ["one", "two"], "config": {"output_dimensionality": 8}}},
    )
    batch = client.batches.get(name=batch.name)
    vectors = [r.response.embedding.values for r in batch.dest.inlined_embed_content_responses]
    assert [len(values) for values in vectors] == [8, 8]


def test_gemini_stops_and_gives_up(rule):
    client = gemini_client()
    rule("gemini", "create", "hold")
    batch = gemini_batch(inlined("one"))
    assert client.batches.get(name=batch.name).state == types.JobState.JOB_STATE_RUNNING
    client.batches.cancel(name=batch.name)
    assert client.batches.get(name=batch.name).state == types.JobState.JOB_STATE_CANCELLED
    control("DELETE", "faults")
    rule("gemini", "create", "expire=0")
    assert client.batches.get(name=gemini_batch(inlined("one")).name).state == types.JobState.JOB_STATE_EXPIRED
    control("DELETE", "faults")
    rule("gemini", "create", "refuse")
    assert client.batches.get(name=gemini_batch(inlined("one")).name).state == types.JobState.JOB_STATE_FAILED


def test_gemini_refuses_calls_that_are_wrong():
    with pytest.raises(gemini_errors.ClientError, match="may not exist"):
        gemini_batch("files/nothing")
    with pytest.raises(gemini_errors.ClientError, match="not found"):
        gemini_batch(inlined("one"), model="gemini-9-zz")
