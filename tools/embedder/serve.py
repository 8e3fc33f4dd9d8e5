"""Serves real sentence encoders on loopback behind an OpenAI-compatible /v1/embeddings.

Models: use-multilingual (Universal Sentence Encoder v3, 16 languages, 512 dimensions) and minilm (all-MiniLM-L6-v2,
English, 384 dimensions). Both lie inside packages and run on numpy alone.

Prints one JSON line once it answers, for example {"url": "http://127.0.0.1:40123", "models": [...], "ready_s": 1.5},
and stops on SIGTERM, on SIGINT, or, with --exit-with-stdin, when its standard input closes (so that it never
outlives the test that started it, however that test ends).
"""

import argparse
import base64
import json
import os
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Short texts gain nothing from more threads, and spinning ones starve a small machine.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np  # noqa: E402

from encoders import ENCODERS  # noqa: E402

MOST_TEXTS = 2048


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=0, help="0 (the default) takes a free one")
    parser.add_argument("--models", default=",".join(ENCODERS), help="which to load, separated by commas")
    parser.add_argument("--api-key", help="refuse calls that do not bring this bearer token")
    parser.add_argument("--exit-with-stdin", action="store_true")
    return parser.parse_args()


class Refused(Exception):
    def __init__(self, status, message):
        super().__init__(message)
        self.status = status


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body leave as one packet, or keep-alive connections wait for a delayed acknowledgement.
    wbufsize = -1
    disable_nagle_algorithm = True
    models = {}
    api_key = None
    # An encoder's buffers are its own: one batch at a time.
    lock = threading.Lock()

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.answer_with(self.get)

    def do_POST(self):
        self.answer_with(self.post)

    def answer_with(self, work):
        # Read in any case: what is left of a request would be taken for the next one.
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            self.send(200, work(body))
        except Refused as refused:
            kind = "server_error" if refused.status >= 500 else "invalid_request_error"
            self.send(refused.status, {"error": {"message": str(refused), "type": kind}})

    def get(self, _):
        if self.path == "/health":
            return {"status": "ok"}
        if self.path == "/v1/models":
            return {"object": "list", "data": [{"id": name, "object": "model"} for name in self.models]}
        raise Refused(404, f"there is no {self.path}")

    def post(self, body):
        if self.path != "/v1/embeddings":
            raise Refused(404, f"there is no {self.path}")
        if self.api_key and self.headers.get("authorization") != f"Bearer {self.api_key}":
            raise Refused(401, "the API key is wrong")
        try:
            request = json.loads(body)
            model, texts = request["model"], request["input"]
        except (ValueError, KeyError, TypeError):
            raise Refused(400, "the body must be a JSON object with `model` and `input`") from None
        texts = [texts] if isinstance(texts, str) else texts
        if not isinstance(texts, list) or not texts or not all(isinstance(text, str) and text for text in texts):
            raise Refused(400, "`input` must be a text or a list of texts, none empty")
        if len(texts) > MOST_TEXTS:
            raise Refused(400, f"`input` has more than {MOST_TEXTS} texts")
        if model not in self.models:
            raise Refused(404, f"there is no model `{model}`")
        with self.lock:
            vectors, tokens = self.models[model].encode(texts)
        return self.embeddings(model, vectors, tokens, request.get("encoding_format"))

    @staticmethod
    def embeddings(model, vectors, tokens, form):
        vectors = np.ascontiguousarray(vectors, dtype="<f4")
        shown = [base64.b64encode(v.tobytes()).decode() if form == "base64" else v.tolist() for v in vectors]
        data = [{"object": "embedding", "index": index, "embedding": vector} for index, vector in enumerate(shown)]
        usage = {"prompt_tokens": tokens, "total_tokens": tokens}
        return {"object": "list", "model": model, "data": data, "usage": usage}

    def send(self, status, value):
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()


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
    started = time.monotonic()
    names = options.models.split(",")
    unknown = [name for name in names if name not in ENCODERS]
    if unknown:
        sys.exit(f"unknown models: {', '.join(unknown)}; there are {', '.join(ENCODERS)}")
    Handler.models = {name: ENCODERS[name]() for name in names}
    Handler.api_key = options.api_key
    server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
    server.daemon_threads = True
    stop = stop_event(options.exit_with_stdin)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}"
    print(json.dumps({"url": url, "models": names, "ready_s": round(time.monotonic() - started, 2)}), flush=True)
    stop.wait()
    os._exit(0)


if __name__ == "__main__":
    main()
