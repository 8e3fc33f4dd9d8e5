"""What every test needs: a client per vendor, pointed at the simulator, that never retries by itself.

Clients are kept: Gemini's closes its connections as soon as it is no longer referred to.
"""

import functools
import json
import os
import urllib.request

import anthropic
import ollama
import openai
import pytest
from google import genai
from google.genai import types

BASE = f"http://{os.environ['VENDORSIM_ADDRESS']}"


@functools.cache
def openai_client(vendor="openai", key="sk-test"):
    return openai.OpenAI(base_url=f"{BASE}/{vendor}/v1", api_key=key, max_retries=0)


@functools.cache
def anthropic_client(key="sk-ant-test"):
    return anthropic.Anthropic(base_url=f"{BASE}/anthropic", api_key=key, max_retries=0)


@functools.cache
def gemini_client(key="AIza-test"):
    options = types.HttpOptions(base_url=f"{BASE}/gemini", retry_options=types.HttpRetryOptions(attempts=1))
    return genai.Client(api_key=key, http_options=options)


def ollama_client(headers=None):
    return ollama.Client(host=f"{BASE}/ollama", headers=headers)


def control(method, path, body=None):
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(f"{BASE}/_sim/{path}", data=data, method=method)
    with urllib.request.urlopen(request) as response:
        return json.load(response)


@pytest.fixture
def fault():
    """Lets a fault strike until the test is over."""

    def set_fault(vendor, spec):
        control("POST", "faults", {"vendor": vendor, "fault": spec})

    yield set_fault
    control("DELETE", "faults")
