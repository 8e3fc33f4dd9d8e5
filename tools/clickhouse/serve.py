"""Serves ClickHouse's engine on loopback: the real SQL engine (chdb), behind an HTTP front that is only a stand-in.

It is not a ClickHouse server: no users, roles, quotas, replicas, sessions or native protocol; answers are built whole.
What it takes is what the official Rust client sends: queries and parameters in a body or a form, settings in the
address, rows in compressed blocks. Settings count for their request only, `insert_deduplication_token` among them.

Prints one JSON line once it answers, for example {"url": "http://127.0.0.1:40123", "version": "26.9.2.1"}, and stops
on SIGTERM, on SIGINT, or, with --exit-with-stdin, when its standard input closes.
"""

import argparse
import email.parser
import email.policy
import json
import os
import queue
import re
import signal
import socket
import struct
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

import chdb
import lz4.block
from clickhouse_cityhash.cityhash import CityHash128

# What is said in the address and is no setting of the engine.
NOT_SETTINGS = {"query", "database", "default_format", "decompress", "query_id", "wait_end_of_query", "user", "password"}
INSERTED_ROWS = re.compile(r"^\s*(INSERT\s+INTO\b.*?)\s+FORMAT\s+(\w+)\s*$", re.I | re.S)
ERROR_CODE = re.compile(r"Code:\s*(\d+)\.")
LZ4, UNCOMPRESSED = 0x82, 0x02


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=0, help="0 (the default) takes a free one")
    parser.add_argument("--data", required=True, help="directory of the tables; one process at a time")
    parser.add_argument("--connections", type=int, default=4, help="queries at once")
    parser.add_argument("--user", default="default")
    # Not only a flag: everybody on the machine can read command lines.
    parser.add_argument("--password", default=os.environ.get("CLICKHOUSE_ENGINE_PASSWORD", ""))
    parser.add_argument("--exit-with-stdin", action="store_true")
    return parser.parse_args()


class Engine:
    """The engine and its connections; each does one query at a time."""

    def __init__(self, path, connections):
        self.idle = queue.LifoQueue()
        for _ in range(connections):
            self.idle.put(chdb.connect(path))

    def run(self, database, settings, work):
        connection = self.idle.get()
        made = []
        try:
            if database:
                connection.query(f"USE `{database}`")
            for name, value in settings.items():
                connection.query(f"SET {name} = {literal(value)}")
                made.append(name)
            return work(connection)
        finally:
            if database:
                connection.query("USE default")
            for name in made:
                connection.query(f"SET {name} = DEFAULT")
            self.idle.put(connection)


def literal(value):
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def insert(connection, head, form, rows):
    # Neither by the library's streaming insert, which reports success when a view has failed, nor behind the query,
    # where the engine trims what looks like white space.
    with tempfile.NamedTemporaryFile() as file:
        file.write(rows)
        file.flush()
        result = connection.query(f"{head} FROM INFILE '{file.name}' FORMAT {form}")
    return b"", {"written_rows": result.rows_written(), "written_bytes": len(rows)}


def query(connection, sql, form, params):
    result = connection.query(sql, form, params=params) if params else connection.query(sql, form)
    read = {"read_rows": result.storage_rows_read(), "read_bytes": result.storage_bytes_read()}
    return bytes(result.bytes() or b""), read


def decompressed(read):
    """Blocks of 16 bytes checksum, 1 method, 4 compressed size, 4 size, data."""
    while head := read(25):
        method, compressed, size = struct.unpack_from("<BII", head, 16)
        data = read(compressed - 9)
        if len(head) < 25 or len(data) < compressed - 9:
            raise ValueError("Code: 33. DB::Exception: the body ends inside a block. (CANNOT_READ_ALL_DATA)")
        checksum = CityHash128(head[16:] + data)
        if head[:16] != struct.pack("<QQ", checksum & (2**64 - 1), checksum >> 64) and head[:16] != struct.pack(
            "<QQ", checksum >> 64, checksum & (2**64 - 1)
        ):
            raise ValueError("Code: 40. DB::Exception: Checksum doesn't match. (CHECKSUM_DOESNT_MATCH)")
        if method == LZ4:
            yield lz4.block.decompress(data, uncompressed_size=size)
        elif method == UNCOMPRESSED:
            yield data
        else:
            raise ValueError("Code: 89. DB::Exception: Unknown compression. (UNKNOWN_COMPRESSION_METHOD)")


class Body:
    """The bytes of a request, chunked or not."""

    def __init__(self, handler):
        self.file = handler.rfile
        self.chunked = "chunked" in handler.headers.get("Transfer-Encoding", "").lower()
        self.left = 0 if self.chunked else int(handler.headers.get("Content-Length", 0))
        self.ended = not self.chunked and self.left == 0

    def read(self, most):
        """`most` bytes, or fewer at the end."""
        got = bytearray()
        while len(got) < most and not self.ended:
            if self.left == 0:
                self.left = int(self.file.readline().split(b";")[0], 16)
                if self.left == 0:
                    self.file.readline()
                    self.ended = True
                    break
            piece = self.file.read(min(most - len(got), self.left))
            if not piece:
                raise ConnectionError("the client has gone")
            got += piece
            self.left -= len(piece)
            if self.left == 0:
                if self.chunked:
                    self.file.readline()
                else:
                    self.ended = True
        return bytes(got)

    def rest(self):
        return b"".join(iter(lambda: self.read(1 << 20), b""))


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    engine = None
    login = None

    def setup(self):
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.do_POST()

    def do_POST(self):
        url = urlsplit(self.path)
        self.body = Body(self)
        if url.path == "/ping":
            return self.reply(200, b"Ok.\n", {})
        try:
            self.reply(200, *self.answer(dict(parse_qsl(url.query, keep_blank_values=True))))
        except ConnectionError:
            self.close_connection = True
        except Exception as error:
            self.refuse(str(error))

    def answer(self, said):
        login = (self.headers.get("X-ClickHouse-User", "default"), self.headers.get("X-ClickHouse-Key", ""))
        if login != self.login:
            raise ValueError("Code: 516. DB::Exception: Authentication failed. (AUTHENTICATION_FAILED)")
        sql, params = self.question(said)
        settings = {k: v for k, v in said.items() if k not in NOT_SETTINGS and not k.startswith("param_")}
        rows = INSERTED_ROWS.match(sql) if said.get("query") else None
        if rows:
            data = b"".join(decompressed(self.body.read)) if said.get("decompress") == "1" else self.body.rest()
            work = lambda connection: insert(connection, rows[1], rows[2], data)
        else:
            form = said.get("default_format", "TabSeparated")
            work = lambda connection: query(connection, sql, form, params)
        started = time.monotonic_ns()
        body, summary = self.engine.run(said.get("database"), settings, work)
        return body, {**summary, "elapsed_ns": time.monotonic_ns() - started}

    def question(self, said):
        """The query and its parameters."""
        params = {k[6:]: v for k, v in said.items() if k.startswith("param_")}
        form = self.headers.get("Content-Type", "")
        if form.startswith("multipart/form-data"):
            text = b"Content-Type: " + form.encode() + b"\r\n\r\n" + self.body.rest()
            parts = email.parser.BytesParser(policy=email.policy.HTTP).parsebytes(text).iter_parts()
            fields = {p.get_param("name", header="content-disposition"): p.get_payload(decode=True).decode() for p in parts}
            params.update({k[6:]: v for k, v in fields.items() if k.startswith("param_")})
            return fields["query"], params
        return said.get("query") or self.body.rest().decode(), params

    def refuse(self, message):
        code = ERROR_CODE.search(message)
        try:
            self.body.rest()
        except (ConnectionError, ValueError):
            self.close_connection = True
        text = message[code.start() :] if code else message
        self.send(500, text.encode(), {"X-ClickHouse-Exception-Code": code[1] if code else "1001"})

    def reply(self, status, body, summary):
        text = json.dumps({name: str(value) for name, value in summary.items()})
        self.send(status, body, {"X-ClickHouse-Summary": text})

    def send(self, status, body, headers):
        head = {"Content-Length": len(body), "Connection": "keep-alive", **headers}
        lines = [f"HTTP/1.1 {status} {self.responses[status][0]}", *(f"{k}: {v}" for k, v in head.items())]
        # In one piece: a head sent by itself waits for the other side's delayed acknowledgement.
        self.wfile.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256


def main():
    said = arguments()
    os.makedirs(said.data, exist_ok=True)
    Handler.engine = Engine(said.data, said.connections)
    Handler.login = (said.user, said.password)
    server = Server(("127.0.0.1", said.port), Handler)
    stop = lambda *_: threading.Thread(target=server.shutdown).start()
    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    if said.exit_with_stdin:
        threading.Thread(target=lambda: (sys.stdin.read(), stop()), daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    print(json.dumps({"url": url, "version": chdb.engine_version}), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
