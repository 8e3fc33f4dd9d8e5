#!/usr/bin/env python3
"""Runs one load matrix over several targets and prints medians.

Targets come from a JSON file, a list of objects:

    {"name": "direct", "url": "http://127.0.0.1:9100/v1/chat/completions",
     "pid": null, "headers": {"authorization": "Bearer x"},
     "modes": {"json": "body.json", "sse": "body_stream.json"}}

"pids": {"router": 1, "adapter": 2} in place of "pid" is a gateway of several
processes: their processor time and memory are summed.
"scenarios": ["c1", "open50"] replaces --scenarios for that target.
"prefix": "taskset --cpu-list 0" is put before the load generator, "mock_pid" is watched beside.
A gRPC target has "modes": {"grpc-unary": "req.bin", "grpc-stream": "req.bin"}
and, where the two methods differ, "urls": {"grpc-unary": "...", ...}.
The first target is the baseline that the added latency is taken against (per
kind of answer: json and grpc-unary are compared, sse and grpc-stream too),
unless a target names another: "baseline": "direct, on one core".

Repetitions are the outermost loop, so that a drift of the machine spreads over
all the targets. Raw results are appended to --out, one JSON object a line.
Printed are a summary and every scenario; --update FILE puts the summary into
FILE between the lines `<!-- bench:begin -->` and `<!-- bench:end -->`.
"""
import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys

MODES = {"json": "http-json", "sse": "http-sse", "grpc-unary": "grpc-unary", "grpc-stream": "grpc-stream"}
KIND = {"http-json": "unary", "grpc-unary": "unary", "http-sse": "stream", "grpc-stream": "stream"}
SCENARIOS = {
    "c1": ["--conns", "1"],
    "c32": ["--conns", "32"],
    "open500": ["--conns", "64", "--rate", "500"],
    "open100": ["--conns", "64", "--rate", "100"],
    "open50": ["--conns", "64", "--rate", "50"],
}


def run_one(a, target, mode, body, scenario, rep):
    url = target.get("urls", {}).get(mode, target.get("url"))
    cmd = target.get("prefix", "").split() + [a.loadgen, "--mode", MODES[mode], "--url", url, "--body", body,
                              "--duration", str(a.duration), "--warmup", str(a.warmup), "--json",
                              "--label", target["name"]] + SCENARIOS[scenario]
    for k, v in target.get("headers", {}).items():
        cmd += ["--header", f"{k}:{v}"]
    parts = target.get("pids") or ({"gateway": target["pid"]} if target.get("pid") else {})
    for name, pid in parts.items():
        cmd += ["--watch", f"{name}={pid}"]
    if target.get("mock_pid"):
        cmd += ["--watch", f"mock={target['mock_pid']}"]
    p = subprocess.run(cmd, capture_output=True, text=True, timeout=a.duration + a.warmup + 60)
    if not p.stdout.strip():
        return {"label": target["name"], "mode": MODES[mode], "scenario": scenario, "rep": rep, "failed": p.stderr.strip()[-300:]}
    r = json.loads(p.stdout)
    if target.get("pids"):
        r["procs"]["gateway"] = together([r["procs"][name] for name in parts], r["ok"])
    r.update(scenario=scenario, rep=rep, loadavg=round(os.getloadavg()[0], 1))
    return r


def together(procs, ok):
    """Several processes as if they were one."""
    total = {key: sum(proc[key] for proc in procs) for key in ("cpu_s", "rss_mib")}
    return {**total, "req_per_cpu_s": round(ok / total["cpu_s"]) if total["cpu_s"] else 0.0}


def med(rows, *path):
    vals = []
    for r in rows:
        for k in path:
            r = r.get(k, {}) if isinstance(r, dict) else {}
        if isinstance(r, (int, float)):
            vals.append(r)
    return statistics.median(vals) if vals else None


def fmt(v, digits=0):
    return "-" if v is None else f"{v:,.{digits}f}"


class Results:
    """What a run measured; figures are medians over the repetitions."""

    def __init__(self, rows, targets):
        self.failed = [r for r in rows if r.get("failed")]
        self.rows = [r for r in rows if not r.get("failed")]
        first = targets[0]["name"]
        self.baselines = {t["name"]: t.get("baseline", first) for t in targets}

    def of(self, label, scenario, kind):
        return [r for r in self.rows if (r["label"], r["scenario"], KIND[r["mode"]]) == (label, scenario, kind)]

    def value(self, label, scenario, kind, *path):
        return med(self.of(label, scenario, kind), *path)

    def added(self, label, scenario, kind, *path):
        """Over the baseline, in the same unit."""
        mine, base = (self.value(name, scenario, kind, *path) for name in (label, self.baselines[label]))
        return None if mine is None or base is None or label in self.baselines.values() else mine - base

    def labels(self):
        return list(dict.fromkeys(r["label"] for r in self.rows))


def row(cells):
    return "| " + " | ".join(cells) + " |"


def summary(results):
    """One line per target, in the units that the aims are put in."""
    lines = [row(["", "unary, 1 connection: added p50 / p99 ms", "stream, 1 connection: first event p50 / p99, end p50 added ms",
                  "unary, 500/s open loop: added p50 / p99 ms", "per gateway CPU-second, 32 connections: unary / streams",
                  "RSS MiB", "errors"]), row(["---"] * 7)]
    for label in results.labels():
        def ms(scenario, kind, *path):
            v = results.added(label, scenario, kind, *path)
            return "-" if v is None else f"{v / 1000:.2f}"
        mine = [r for r in results.rows if r["label"] == label]
        rss = [r["procs"]["gateway"]["rss_mib"] for r in mine if "gateway" in r["procs"]]
        lines.append(row([
            label,
            f"{ms('c1', 'unary', 'latency_us', 'p50')} / {ms('c1', 'unary', 'latency_us', 'p99')}",
            f"{ms('c1', 'stream', 'ttfb_us', 'p50')} / {ms('c1', 'stream', 'ttfb_us', 'p99')}, {ms('c1', 'stream', 'latency_us', 'p50')}",
            f"{ms('open500', 'unary', 'latency_us', 'p50')} / {ms('open500', 'unary', 'latency_us', 'p99')}",
            " / ".join(fmt(results.value(label, "c32", kind, "procs", "gateway", "req_per_cpu_s")) for kind in ("unary", "stream")),
            fmt(max(rss, default=None), 0), fmt(sum(r["errors"] for r in mine))]))
    return lines


def details(results):
    """One line per scenario, kind of answer and target."""
    lines = [row(["scenario", "target", "mode", "rps", "p50 us", "p90 us", "p99 us", "p99.9 us", "added p50 us", "added p99 us",
                  "first p50 us", "added first p50 us", "errors", "per gateway CPU-s", "RSS MiB"]), row(["---"] * 15)]
    keys = dict.fromkeys((r["scenario"], KIND[r["mode"]], r["label"], r["mode"]) for r in results.rows)
    for sc, kind, label, mode in sorted(keys, key=lambda k: k[:2]):
        at = (label, sc, kind)
        lines.append(row([
            sc, label, mode, fmt(results.value(*at, "rps")), *(fmt(results.value(*at, "latency_us", q)) for q in ("p50", "p90", "p99", "p999")),
            fmt(results.added(*at, "latency_us", "p50")), fmt(results.added(*at, "latency_us", "p99")),
            fmt(results.value(*at, "ttfb_us", "p50")), fmt(results.added(*at, "ttfb_us", "p50")),
            fmt(sum(r["errors"] for r in results.of(*at))), fmt(results.value(*at, "procs", "gateway", "req_per_cpu_s")),
            fmt(results.value(*at, "procs", "gateway", "rss_mib"), 1)]))
    return lines + [f"failed: {r['label']} {r['mode']} {r['scenario']} rep {r['rep']}: {r['failed']}" for r in results.failed]


def machine():
    with open("/proc/cpuinfo") as f:
        names = [line.split(":", 1)[1].strip() for line in f if line.startswith("model name")]
    day = datetime.datetime.now(datetime.timezone.utc).date()
    return f"{day}, {len(names)} cores of {names[0] if names else 'an unknown processor'}, Linux {os.uname().release.split('-')[0]}"


def update(path, lines):
    with open(path) as f:
        before, rest = f.read().split("<!-- bench:begin -->", 1)
    after = rest.split("<!-- bench:end -->", 1)[1]
    with open(path, "w") as f:
        f.write(before + "<!-- bench:begin -->\n" + "\n".join(lines) + "\n<!-- bench:end -->" + after)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("targets")
    p.add_argument("--loadgen", default="loadgen/target/release/loadgen")
    p.add_argument("--out", default="results.jsonl")
    p.add_argument("--reps", type=int, default=3)
    p.add_argument("--duration", type=float, default=5)
    p.add_argument("--warmup", type=float, default=1)
    p.add_argument("--scenarios", default="c1,c32,open500")
    p.add_argument("--only", help="names of targets, comma-separated")
    p.add_argument("--modes", help="json,sse,grpc-unary,grpc-stream; all that a target has by default")
    p.add_argument("--update", metavar="FILE", help="rewrite the summary in FILE")
    p.add_argument("--report-only", action="store_true", help="no run: report what --out holds")
    a = p.parse_args()
    with open(a.targets) as f:
        targets = json.load(f)
    if not a.report_only:
        for rep in range(a.reps):
            for t in targets:
                if a.only and t["name"] not in a.only.split(","):
                    continue
                for mode, body in t["modes"].items():
                    if a.modes and mode not in a.modes.split(","):
                        continue
                    for sc in t.get("scenarios", a.scenarios.split(",")):
                        r = run_one(a, t, mode, body, sc, rep)
                        with open(a.out, "a") as f:
                            f.write(json.dumps(r) + "\n")
                        lat = r.get("latency_us", {})
                        print(rep, t["name"], mode, sc, "rps", r.get("rps"), "p50", lat.get("p50"), "p99", lat.get("p99"),
                              "err", r.get("errors"), "load", r.get("loadavg"), r.get("last_error") or r.get("failed") or "",
                              file=sys.stderr, flush=True)
    with open(a.out) as f:
        results = Results([json.loads(line) for line in f if line.strip()], targets)
    head = [f"Measured on {machine()}; {a.reps} spans of {a.duration:g} s each, medians.", "", *summary(results)]
    print("\n".join([*head, "", *details(results)]))
    if a.update:
        update(a.update, head)
    if results.failed:
        sys.exit(1)


if __name__ == "__main__":
    main()
