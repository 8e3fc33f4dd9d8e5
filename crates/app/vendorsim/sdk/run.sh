#!/usr/bin/env bash
# Runs the vendors' own SDKs against the simulator. Build it first: cargo build -p signalbox-vendorsim
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../../.." && pwd)
venv=$root/.tools/sdk-venv
binary=${VENDORSIM_BINARY:-$root/target/debug/signalbox-vendorsim}

if [[ ! -x $binary ]]; then
    echo "no $binary; run: cargo build -p signalbox-vendorsim" >&2
    exit 1
fi

# The environment is made anew when what it was made from has changed.
if ! cmp -s "$here/requirements.txt" "$venv/requirements.txt"; then
    rm -rf "$venv"
    python3 -m venv "$venv"
    "$venv/bin/pip" install --quiet --only-binary :all: --requirement "$here/requirements.txt"
    cp "$here/requirements.txt" "$venv/requirements.txt"
fi

ready=$(mktemp)
"$binary" --listen 127.0.0.1:0 --batch-ms 0 >"$ready" &
simulator=$!
trap 'kill "$simulator" 2>/dev/null || true; rm -f "$ready"' EXIT
until [[ -s $ready ]]; do
    kill -0 "$simulator"
    sleep 0.05
done
VENDORSIM_ADDRESS=$(sed -E 's/.*"address":"([^"]+)".*/\1/' "$ready")
export VENDORSIM_ADDRESS
# PYTHONPATH stays out: the SDKs under test are the pinned ones.
env -u PYTHONPATH "$venv/bin/python" -m pytest -p no:cacheprovider --timeout 60 -q "$here/test_sdks.py" "$here/test_batches.py" "$@"
