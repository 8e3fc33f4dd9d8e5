#!/usr/bin/env bash
# Runs every fuzz target for SECONDS, beginning from the vendors' example payloads.
# What fails is kept in fuzz/target/found; give such a file to the target's binary to see it fail again.
set -euo pipefail
seconds=${1:?usage: fuzz/run.sh SECONDS}
cd "$(dirname "$0")"

# The flags are in .cargo/config.toml; these of the environment would replace them, or put the files elsewhere.
unset RUSTFLAGS CARGO_ENCODED_RUSTFLAGS CARGO_BUILD_TARGET CARGO_TARGET_DIR CARGO_BUILD_TARGET_DIR

if [ -d target ] && [ "$(du -sm target | cut -f1)" -gt 1500 ]; then
    cargo clean
fi
cargo build

binaries=target/$(rustc -vV | sed -n 's/^host: //p')/debug
for target in stream_framing stream_decoders batch_results; do
    echo "fuzzing $target for $seconds seconds"
    log=target/$target.log
    rm -rf "target/corpus/$target"
    mkdir -p "target/corpus/$target" target/found
    if ! "$binaries/$target" -max_total_time="$seconds" -max_len=65536 -timeout=10 -rss_limit_mb=1024 -reload=0 \
        -dict=vendors.dict -artifact_prefix="target/found/$target-" -print_final_stats=1 \
        "target/corpus/$target" ../tests/fixtures/vendors/*/ 2>"$log"; then
        tail -n 60 "$log"
        exit 1
    fi
    grep -E 'inline 8-bit counters|^#[0-9]+\s+(INITED|DONE)' "$log"
done
