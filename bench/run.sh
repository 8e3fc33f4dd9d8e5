#!/usr/bin/env bash
# Measures what Signalbox adds to a call, beside a direct call and other gateways in the same run. All on loopback.
#
#   bench/run.sh [option of sidebyside.py]...
#
# BENCH_DISTRIBUTED= (empty) leaves out the system of many processes. In it the engines and the roles that no call waits for
# have the last core to themselves, since in production they are on other machines, and what a call passes through has the
# first, caller and upstream included. BENCH_APART= (empty) has all of them share the cores.
# Environment: BENCH_SECONDS per span (3), BENCH_WARMUP before each (1), BENCH_REPS (3), BENCH_SCENARIOS
# (c1,c32,open500), BENCH_PEERS (envoy,portkey), BENCH_UPDATE=1 to rewrite the table of docs/performance.md,
# SIGNALBOX=path of a binary to measure in place of this tree's.
# With the defaults it takes about six minutes after the build. Results: bench/results/.
set -euo pipefail

bench=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(dirname "$bench")
tools="$root/.tools"
results="$bench/results"
peers=,${BENCH_PEERS-envoy,portkey},
distributed=${BENCH_DISTRIBUTED-1}
apart=${BENCH_APART-1}

pids=()
work=$(mktemp -d)
stop_all() {
    local pid
    [[ ! -e $work/system ]] || "$root/target/release/local" --folder "$work/system" down >/dev/null || true
    for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
    for pid in "${pids[@]}"; do wait "$pid" 2>/dev/null || true; done
    rm -rf "$work"
}
trap stop_all EXIT
trap 'exit 130' INT TERM

say() { printf 'bench: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

free_port() {
    python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# Starts COMMAND in the background with its output in a file of this NAME; its id is then in $pid.
start() { # NAME COMMAND...
    local name=$1
    shift
    "$@" >"$work/$name.log" 2>&1 &
    pid=$!
    pids+=("$pid")
}

# Waits until something listens on PORT.
await() { # NAME PORT
    local tries
    for tries in $(seq 100); do
        (exec 3<>"/dev/tcp/127.0.0.1/$2") 2>/dev/null && return
        kill -0 "$pid" 2>/dev/null || break
        sleep 0.1
    done
    tail -n 20 "$work/$1.log" >&2
    die "$1 did not start"
}

# One target of sidebyside.py.
target() { # NAME PID JSON-MEMBER...
    printf '{"name": "%s", "pid": %s' "$1" "$2"
    shift 2
    printf ', %s' "$@"
    printf '}'
}

openai_modes="\"modes\": {\"json\": \"$bench/requests/json.json\", \"sse\": \"$bench/requests/sse.json\"}"

grpc_modes() { # SUFFIX
    "$tools/bin/buf" convert "$root" --type signalbox.v1.GenerateRequest \
        --from "$bench/requests/grpc-unary$1.json" --to "$work/unary$1.binpb"
    "$tools/bin/buf" convert "$root" --type signalbox.v1.StreamGenerateRequest \
        --from "$bench/requests/grpc-stream$1.json" --to "$work/stream$1.binpb"
    printf '"modes": {"grpc-unary": "%s", "grpc-stream": "%s"}' "$work/unary$1.binpb" "$work/stream$1.binpb"
}

build() {
    "$root/tools/install.sh" gate bench
    say "building"
    local packages=()
    [[ -n ${SIGNALBOX:-} ]] || packages+=(--package signalbox)
    if [[ -n $distributed ]]; then
        "$root/tools/install.sh" clickhouse postgres redis redis-search
        packages=(--package signalbox --package signalbox-vendorsim --package signalbox-local)
    fi
    # In one go: with other packages beside them crates have other features, and are built again.
    [[ ${#packages[@]} == 0 ]] || (cd "$root" && cargo build --quiet --locked --release --bins "${packages[@]}")
    local program
    for program in loadgen mock-upstream; do
        (cd "$bench/$program" && cargo build --quiet --locked --release)
    done
}

# An upstream, and calls of it without a gateway as the target of this NAME.
start_mock() { # NAME PREFIX...
    local name=$1
    shift
    upstream=$(free_port)
    start mock "$@" "$bench/mock-upstream/target/release/mock-upstream" --listen "127.0.0.1:$upstream"
    await mock "$upstream"
    targets+=("$(target "$name" null "\"url\": \"http://127.0.0.1:$upstream/v1/chat/completions\"" "$openai_modes" \
        "\"prefix\": \"$*\", \"mock_pid\": $pid")")
}

# Has the processes of a system whose names are given, and all they start, run on one CORE only.
pin() { # SYSTEM CORE NAME...
    local system=$1 core=$2 name file process
    shift 2
    for name in "$@"; do
        for file in "$system/run/$name"*.pid; do
            for process in $(pgrep --session "$(<"$file")"); do
                taskset --all-tasks --cpu-list --pid "$core" "$process" >/dev/null
            done
        done
    done
}

start_signalbox() {
    local port service modes
    port=$(free_port)
    start signalbox env BENCH_UPSTREAM="http://127.0.0.1:$upstream" BENCH_KEY=bench SIGNALBOX_DATA_DIR="$work/data" \
        "${SIGNALBOX:-$root/target/release/signalbox}" serve --config "$bench/signalbox.yaml" \
        --listen "127.0.0.1:$port" --metrics-listen 127.0.0.1:0
    await signalbox "$port"
    service="http://127.0.0.1:$port/signalbox.v1.RouterService"
    service="\"urls\": {\"grpc-unary\": \"$service/Generate\", \"grpc-stream\": \"$service/StreamGenerate\"}"
    modes=$(grpc_modes "")
    targets+=("$(target signalbox "$pid" "$service" "$modes")")
    modes=$(grpc_modes "-openai")
    targets+=("$(target "signalbox, kind openai" "$pid" "$service" "$modes" '"scenarios": ["c32"]')")
}

# The value of a key of what is read.
json() { # KEY
    python3 -c "import json, sys; print(json.load(sys.stdin)[\"$1\"])"
}

# Every role twice, with TLS between them, and all engines: callers have a key, and a budget pays.
start_distributed() {
    local system="$work/system" key modes service file name="signalbox, distributed" pids_of_roles=() placed='"prefix": ""'
    if [[ -n $apart ]]; then
        start_mock "direct, on one core" taskset --cpu-list 0
        name+=", engines on a core of their own"
        placed='"prefix": "taskset --cpu-list 0", "baseline": "direct, on one core"'
    fi
    sed "s|@UPSTREAM@|http://127.0.0.1:$upstream|" "$bench/distributed.json" >"$work/distributed.json"
    (cd "$root" && target/release/local --folder "$system" up --base-port 0 --overlay "$work/distributed.json") \
        >"$work/system.log" 2>&1 || { tail -n 20 "$work/system.log" >&2; die "the distributed system did not start"; }
    if [[ -n $apart ]]; then
        pin "$system" 0 router adapter
        pin "$system" $(($(nproc) - 1)) nats clickhouse postgres redis vendors ingest budget batch cache
    fi
    key=$(
        source "$system/env"
        export SIGNALBOX_API_KEY=$SIGNALBOX_ADMIN_KEY SIGNALBOX_SERVER
        SIGNALBOX_SERVER=http://$(json 'server"]["listen' <"$system/config/budget-1.yaml")
        signalbox tenant create bench >/dev/null
        signalbox budget create --tenant bench --limit 1000000 monthly >/dev/null
        signalbox key create --tenant bench --json | json secret
    ) || die "no API key was made"
    service=$(source "$system/env" && printf '%s' "$SIGNALBOX_SERVER/signalbox.v1.RouterService")
    service="\"urls\": {\"grpc-unary\": \"$service/Generate\", \"grpc-stream\": \"$service/StreamGenerate\"}"
    for file in "$system"/run/{batch,router,adapter,cache,budget,ingest}-*.pid; do
        pids_of_roles+=("\"$(basename "$file" .pid)\": $(<"$file")")
    done
    modes=$(grpc_modes "")
    targets+=("$(target "$name" null "\"pids\": {$(IFS=,; printf '%s' "${pids_of_roles[*]}")}" "$service" "$modes" \
        "\"headers\": {\"authorization\": \"Bearer $key\"}" "$placed")")
}

start_envoy() {
    local port
    port=$(free_port)
    sed -e "s/@PORT@/$port/" -e "s/@UPSTREAM@/$upstream/" "$bench/envoy.yaml" >"$work/envoy.yaml"
    start envoy "$tools/bin/envoy" --config-path "$work/envoy.yaml" --concurrency "$(nproc)" --disable-hot-restart \
        --log-level error
    await envoy "$port"
    targets+=("$(target envoy "$pid" "\"url\": \"http://127.0.0.1:$port/v1/chat/completions\"" "$openai_modes")")
}

start_portkey() {
    local port headers
    port=$(free_port)
    start portkey env NODE_ENV=production TRUSTED_CUSTOM_HOSTS=127.0.0.1,localhost \
        "$tools/portkey/node_modules/.bin/gateway" "--port=$port" --headless
    await portkey "$port"
    headers="{\"x-portkey-provider\": \"openai\", \"authorization\": \"Bearer bench\""
    headers+=", \"x-portkey-custom-host\": \"http://127.0.0.1:$upstream/v1\"}"
    targets+=("$(target portkey "$pid" "\"url\": \"http://127.0.0.1:$port/v1/chat/completions\"" "$openai_modes" \
        "\"headers\": $headers")")
}

targets=()
build
start_mock direct
start_signalbox
[[ $peers != *,envoy,* ]] || start_envoy
[[ $peers != *,portkey,* ]] || start_portkey
# Last, since it may be given an upstream of its own.
[[ -z $distributed ]] || start_distributed

mkdir -p "$results"
(IFS=,; printf '[%s]\n' "${targets[*]}") >"$work/targets.json"
raw="$results/$(date -u +%Y%m%dT%H%M%SZ).jsonl"
update=()
[[ -z ${BENCH_UPDATE:-} ]] || update=(--update "$root/docs/performance.md")
python3 "$bench/sidebyside.py" "$work/targets.json" --loadgen "$bench/loadgen/target/release/loadgen" --out "$raw" \
    --duration "${BENCH_SECONDS:-3}" --warmup "${BENCH_WARMUP:-1}" --reps "${BENCH_REPS:-3}" \
    --scenarios "${BENCH_SCENARIOS:-c1,c32,open500}" "${update[@]}" "$@" | tee "${raw%.jsonl}.md"
say "raw figures: ${raw#"$root"/}"
