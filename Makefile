# Everything a contributor does here. `make` alone lists it.
#
# CI runs `make lint`, `make fuzz` and `make test` through .ci/run, so what passes here passes there.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Cargo uses all cores by itself.
.NOTPARALLEL:

# What tools/install.sh brought comes first, so that versions are the pinned ones.
export PATH := $(CURDIR)/.tools/bin:$(PATH)

# `make run PROFILE=release` for figures; the default starts minutes sooner and shares its artefacts with the tests.
PROFILE ?= dev
# Seconds per fuzz target.
FUZZ_SECONDS ?= 60
# Arguments of `chaos run`.
CHAOS ?=
BASELINE := proto/baseline.binpb
# As the alias in .cargo/config.toml, but a check must not repair Cargo.lock in passing.
XTASK := cargo run --quiet --locked --package xtask --

.PHONY: help
help:
	@awk -F ':.*## ' '/^##@ / { print "\n" substr($$0, 5) } /^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile

##@ Use

.PHONY: run
run: ## Build and serve all roles on embedded defaults: gRPC on 127.0.0.1:50051
	cargo run --locked --profile $(PROFILE) --package signalbox -- serve

# FOLDER=DIR puts it elsewhere, BASE_PORT=N gives it other ports, 0 free ones.
LOCAL = cargo run --locked --quiet --profile $(PROFILE) --package signalbox-local -- $(if $(FOLDER),--folder $(FOLDER))

.PHONY: up
up: ## The whole distributed system on this machine: engines, and every role twice (docs/local.md)
	@tools/install.sh gate clickhouse postgres redis redis-search
	cargo build --locked --profile $(PROFILE) --package signalbox --package signalbox-vendorsim --package signalbox-local --bins
	@$(LOCAL) up $(if $(BASE_PORT),--base-port $(BASE_PORT))

.PHONY: down
down: ## End it, and remove all it had
	@$(LOCAL) down

.PHONY: status
status: ## What of it runs, and how it does
	@$(LOCAL) status

.PHONY: roll
roll: ## Restart its roles one process at a time (ROLE=router for one role)
	@$(LOCAL) roll $(or $(ROLE),all)

##@ Test

.PHONY: test
test: test-sdk test-doc test-rust ## Install what the tests need, then run all of them

# The end-to-end tests and the SDKs run the programs, which Cargo builds for the tests of their own crate only.
.PHONY: test-build
test-build: test-tools
	cargo build --locked --workspace --bins --tests

.PHONY: test-rust
test-rust: test-build ## Unit, contract and end-to-end tests, README snippets included
	cargo nextest run --locked --workspace

.PHONY: test-doc
test-doc: ## Examples in doc comments
	cargo test --locked --workspace --doc --quiet

.PHONY: test-sdk
test-sdk: test-build ## The vendors' own SDKs against the simulated vendors
	crates/app/vendorsim/sdk/run.sh

.PHONY: test-tools
test-tools:
	@tools/install.sh gate realllm embedder clickhouse postgres redis redis-search containers helm promtool

# In a system of its own, or in the one whose FOLDER is given: its roles are restarted for each test, and as they were
# in the end.
.PHONY: test-up
test-up: test-build ## The end-to-end tests in the system of `make up`, one after the other (FOLDER=.local for one that is up)
	$(if $(FOLDER),SIGNALBOX_UP=$(abspath $(FOLDER))) cargo test --locked --quiet --package signalbox-tests --test e2e -- \
		--ignored --exact --nocapture up::all_but_those_left_out_pass_in_a_system_that_is_up

.PHONY: drill
drill: ## The monthly drill: a random vendor fails in three ways under load (DRILL_SEED, DRILL_SECONDS, DRILL_RATE, DRILL_SERVER)
	cargo build --locked --package signalbox --package signalbox-vendorsim --bins
	cargo run --locked --quiet --package signalbox-testkit --bin drill

.PHONY: chaos
chaos: test-tools ## Kill processes while they account for a million requests and spend a budget, and count what was stored (CHAOS="--kills 50 --seed 7")
	cargo build --locked --release --package signalbox --package signalbox-vendorsim --package signalbox-chaos --bins
	target/release/chaos run $(CHAOS)

.PHONY: fuzz
fuzz: ## Fuzz the parsers of foreign bytes (FUZZ_SECONDS each, default 60)
	fuzz/run.sh $(FUZZ_SECONDS)

.PHONY: bench
bench: ## Measure against a direct call and other gateways; rewrites the tables of docs/performance.md
	@tools/install.sh bench
	BENCH_UPDATE=1 bench/run.sh

.PHONY: bench-plan
bench-plan: ## What choosing the candidates of a request costs
	cargo bench --package signalbox-routing --bench plan

.PHONY: bench-guards
bench-guards: ## What comparing two instructions word by word costs
	cargo bench --package signalbox-guards --bench guards

.PHONY: eval-cache
eval-cache: ## What matching by meaning serves, with real encoders; rewrites tables and picture of docs/cache.md
	@tools/install.sh embedder
	cargo run --locked --package signalbox-cache-eval --bin eval-cache -- .

.PHONY: bench-cache
bench-cache: test-tools ## What the cache costs requests, also with Redis killed, frozen and slow; rewrites its tables of docs/performance.md
	cargo build --locked --release --package signalbox --package signalbox-vendorsim --package signalbox-cache-bench --bins
	target/release/bench-cache .

.PHONY: simulation
simulation: ## Route through vendors' incidents in virtual time; rewrites tables and pictures of docs/routing.md
	cargo run --locked --release --package signalbox-simulation --bin simulate -- .

##@ Check

.PHONY: lint
lint: lint-format lint-rings lint-proto lint-licences lint-rust lint-docs ## Everything below

.PHONY: lint-format
lint-format: ## Format of the Rust code
	cargo fmt --all --check

.PHONY: lint-rust
lint-rust: ## Compiler and clippy warnings, in tests too
	cargo clippy --locked --workspace --all-targets -- --deny warnings

.PHONY: lint-docs
lint-docs: ## Doc comments: broken links, bad markup
	RUSTDOCFLAGS='--deny warnings' cargo doc --locked --workspace --no-deps --quiet

.PHONY: lint-rings
lint-rings: ## Which crate may use which, and the core's purity
	$(XTASK) rings
	$(XTASK) files

.PHONY: lint-proto
lint-proto: lint-tools ## The contract: style, generated code, and compatibility with the last release
	buf lint
	buf format --diff --exit-code
	buf breaking --against $(BASELINE)
	$(XTASK) proto --check

.PHONY: lint-licences
lint-licences: lint-tools ## Licences, banned crates and sources of all dependencies
	cargo deny --locked --log-level error check licenses bans sources

.PHONY: lint-tools
lint-tools:
	@tools/install.sh gate

##@ Change

.PHONY: format
format: lint-tools ## Format Rust code and the contract
	cargo fmt --all
	buf format --write

.PHONY: proto
proto: ## Generate code after a change of proto/
	cargo xtask proto

.PHONY: proto-baseline
proto-baseline: lint-tools ## At a release: make the contract of now the one later changes must keep to
	buf build --exclude-source-info --output $(BASELINE)

.PHONY: clean
clean: ## Remove everything built or installed here
	cargo clean
	rm -rf .tools fuzz/target
