-- Accounts of requests, their model calls, and their sums by hour, day and month.
--
-- Every table forgets repeated blocks: a batch that is inserted again under its token adds nothing, neither here nor in
-- what the views feed. /*cluster*/ and /*replicated*/ are filled in for a replicated cluster.

CREATE TABLE IF NOT EXISTS usage_events /*cluster*/ (
    event_id String CODEC(ZSTD),
    -- When it counts: at its end, or when it was stored if its month was closed then.
    counted_at DateTime64(6, 'UTC') CODEC(Delta, ZSTD),
    -- Token of the batch it came in.
    batch String CODEC(ZSTD),
    inserted_at DateTime('UTC') DEFAULT now() CODEC(Delta, ZSTD),
    request_id String CODEC(ZSTD),
    trace_id String CODEC(ZSTD),
    tenant_id LowCardinality(String),
    key_id LowCardinality(String),
    scene LowCardinality(String),
    task_type LowCardinality(String),
    locale LowCardinality(String),
    reference String CODEC(ZSTD),
    lane LowCardinality(String),
    operation LowCardinality(String),
    requested_model LowCardinality(String),
    vendor LowCardinality(String),
    model LowCardinality(String),
    served_model LowCardinality(String),
    route_reason LowCardinality(String),
    outcome LowCardinality(String),
    error_reason LowCardinality(String),
    finish_reason LowCardinality(String),
    cache_outcome LowCardinality(String),
    simulated Bool,
    started_at DateTime64(6, 'UTC') CODEC(Delta, ZSTD),
    ended_at DateTime64(6, 'UTC') CODEC(Delta, ZSTD),
    -- 0 where there is none, here and in first_token_us.
    latency_us UInt64 CODEC(T64, ZSTD),
    first_token_us UInt64 CODEC(T64, ZSTD),
    attempts_made UInt32,
    fallback Bool,
    cache_hit Bool,
    input_tokens UInt64 CODEC(T64, ZSTD),
    cache_read_tokens UInt64 CODEC(T64, ZSTD),
    cache_write_tokens UInt64 CODEC(T64, ZSTD),
    cache_write_1h_tokens UInt64 CODEC(T64, ZSTD),
    output_tokens UInt64 CODEC(T64, ZSTD),
    reasoning_tokens UInt64 CODEC(T64, ZSTD),
    -- How far the counts can be trusted: 0 nothing used, 1 told by the vendor, 2 estimated, 3 not known.
    certainty UInt8,
    -- EUR, to the nano-EUR.
    cost Decimal(18, 9) CODEC(T64, ZSTD),
    cost_unknown Bool,
    price_version LowCardinality(String),
    saved Decimal(18, 9) CODEC(T64, ZSTD),
    saved_unknown Bool,
    attempts Nested(
        vendor LowCardinality(String),
        model LowCardinality(String),
        served_model LowCardinality(String),
        kind LowCardinality(String),
        cause LowCardinality(String),
        error_reason LowCardinality(String),
        fallback_reason LowCardinality(String),
        vendor_status UInt32,
        started_at DateTime64(6, 'UTC'),
        latency_us UInt64,
        first_token_us UInt64,
        input_tokens UInt64,
        cache_read_tokens UInt64,
        cache_write_tokens UInt64,
        cache_write_1h_tokens UInt64,
        output_tokens UInt64,
        reasoning_tokens UInt64,
        token_source LowCardinality(String),
        cost Decimal(18, 9),
        cost_unknown Bool,
        simulated Bool,
        failed Bool,
        first_choice Bool,
        fell_back Bool,
        structured Bool,
        invalid Bool,
        answered Bool,
        answer_tokens UInt64
    ),
    -- The whole account, an encoded signalbox.v1.UsageEvent.
    event String CODEC(ZSTD)
)
ENGINE = /*replicated*/MergeTree
PARTITION BY toYYYYMM(counted_at)
ORDER BY (tenant_id, counted_at, event_id)
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000,
    replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1;

CREATE TABLE IF NOT EXISTS provider_attempts /*cluster*/ (
    counted_at DateTime64(6, 'UTC') CODEC(Delta, ZSTD),
    event_id String CODEC(ZSTD),
    number UInt32,
    tenant_id LowCardinality(String),
    scene LowCardinality(String),
    task_type LowCardinality(String),
    vendor LowCardinality(String),
    model LowCardinality(String),
    served_model LowCardinality(String),
    kind LowCardinality(String),
    cause LowCardinality(String),
    error_reason LowCardinality(String),
    fallback_reason LowCardinality(String),
    vendor_status UInt32,
    started_at DateTime64(6, 'UTC') CODEC(Delta, ZSTD),
    latency_us UInt64 CODEC(T64, ZSTD),
    first_token_us UInt64 CODEC(T64, ZSTD),
    input_tokens UInt64 CODEC(T64, ZSTD),
    cache_read_tokens UInt64 CODEC(T64, ZSTD),
    cache_write_tokens UInt64 CODEC(T64, ZSTD),
    cache_write_1h_tokens UInt64 CODEC(T64, ZSTD),
    output_tokens UInt64 CODEC(T64, ZSTD),
    reasoning_tokens UInt64 CODEC(T64, ZSTD),
    token_source LowCardinality(String),
    cost Decimal(18, 9) CODEC(T64, ZSTD),
    cost_unknown Bool,
    simulated Bool,
    -- By the vendor's fault.
    failed Bool,
    -- The request was first sent here, and then served by another candidate.
    first_choice Bool,
    fell_back Bool,
    -- An answer that had to be JSON, and was not.
    structured Bool,
    invalid Bool,
    -- It answered and its tokens are known.
    answered Bool,
    answer_tokens UInt64 CODEC(T64, ZSTD)
)
ENGINE = /*replicated*/MergeTree
PARTITION BY toYYYYMM(counted_at)
ORDER BY (vendor, model, counted_at, event_id, number)
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000,
    replicated_deduplication_window_seconds = 604800, ttl_only_drop_parts = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS provider_attempts_view /*cluster*/ TO provider_attempts AS
SELECT
    counted_at, event_id, number, tenant_id, scene, task_type,
    a.vendor AS vendor, a.model AS model, a.served_model AS served_model, a.kind AS kind, a.cause AS cause,
    a.error_reason AS error_reason, a.fallback_reason AS fallback_reason, a.vendor_status AS vendor_status,
    a.started_at AS started_at, a.latency_us AS latency_us, a.first_token_us AS first_token_us,
    a.input_tokens AS input_tokens, a.cache_read_tokens AS cache_read_tokens,
    a.cache_write_tokens AS cache_write_tokens, a.cache_write_1h_tokens AS cache_write_1h_tokens,
    a.output_tokens AS output_tokens, a.reasoning_tokens AS reasoning_tokens, a.token_source AS token_source,
    a.cost AS cost, a.cost_unknown AS cost_unknown, a.simulated AS simulated, a.failed AS failed,
    a.first_choice AS first_choice, a.fell_back AS fell_back, a.structured AS structured, a.invalid AS invalid,
    a.answered AS answered, a.answer_tokens AS answer_tokens
FROM usage_events
ARRAY JOIN attempts AS a, arrayEnumerate(attempts.vendor) AS number;

CREATE TABLE IF NOT EXISTS usage_hourly /*cluster*/ (
    hour DateTime('UTC') CODEC(Delta, ZSTD),
    tenant_id LowCardinality(String),
    key_id LowCardinality(String),
    scene LowCardinality(String),
    task_type LowCardinality(String),
    locale LowCardinality(String),
    vendor LowCardinality(String),
    model LowCardinality(String),
    lane LowCardinality(String),
    operation LowCardinality(String),
    outcome LowCardinality(String),
    cache_outcome LowCardinality(String),
    error_reason LowCardinality(String),
    simulated Bool,
    requests SimpleAggregateFunction(sum, UInt64),
    failed SimpleAggregateFunction(sum, UInt64),
    cancelled SimpleAggregateFunction(sum, UInt64),
    attempts SimpleAggregateFunction(sum, UInt64),
    fallbacks SimpleAggregateFunction(sum, UInt64),
    cache_hits SimpleAggregateFunction(sum, UInt64),
    input_tokens SimpleAggregateFunction(sum, UInt64),
    cache_read_tokens SimpleAggregateFunction(sum, UInt64),
    cache_write_tokens SimpleAggregateFunction(sum, UInt64),
    cache_write_1h_tokens SimpleAggregateFunction(sum, UInt64),
    output_tokens SimpleAggregateFunction(sum, UInt64),
    reasoning_tokens SimpleAggregateFunction(sum, UInt64),
    certainty SimpleAggregateFunction(max, UInt8),
    cost SimpleAggregateFunction(sum, Decimal(38, 9)),
    cost_unknown_requests SimpleAggregateFunction(sum, UInt64),
    saved SimpleAggregateFunction(sum, Decimal(38, 9)),
    saved_unknown_requests SimpleAggregateFunction(sum, UInt64),
    latency AggregateFunction(quantilesBFloat16(0.5, 0.95, 0.99), UInt64),
    first_token AggregateFunction(quantilesBFloat16(0.5, 0.95, 0.99), UInt64)
)
ENGINE = /*replicated*/AggregatingMergeTree
PARTITION BY toYYYYMM(hour)
PRIMARY KEY (tenant_id, hour)
ORDER BY (
    tenant_id, hour, scene, task_type, vendor, model, key_id, locale, lane, operation, outcome, cache_outcome,
    error_reason, simulated
)
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000,
    replicated_deduplication_window_seconds = 604800;

CREATE MATERIALIZED VIEW IF NOT EXISTS usage_hourly_view /*cluster*/ TO usage_hourly AS
SELECT
    toStartOfHour(counted_at) AS hour,
    tenant_id, key_id, scene, task_type, locale, vendor, model, lane, operation, outcome, cache_outcome, error_reason,
    simulated,
    count() AS requests,
    countIf(outcome = 'OUTCOME_FAILED') AS failed,
    countIf(outcome = 'OUTCOME_CANCELLED') AS cancelled,
    sum(e.attempts_made) AS attempts,
    countIf(e.fallback) AS fallbacks,
    countIf(e.cache_hit) AS cache_hits,
    sum(e.input_tokens) AS input_tokens,
    sum(e.cache_read_tokens) AS cache_read_tokens,
    sum(e.cache_write_tokens) AS cache_write_tokens,
    sum(e.cache_write_1h_tokens) AS cache_write_1h_tokens,
    sum(e.output_tokens) AS output_tokens,
    sum(e.reasoning_tokens) AS reasoning_tokens,
    max(e.certainty) AS certainty,
    sum(e.cost) AS cost,
    countIf(e.cost_unknown) AS cost_unknown_requests,
    sum(e.saved) AS saved,
    countIf(e.saved_unknown) AS saved_unknown_requests,
    quantilesBFloat16StateIf(0.5, 0.95, 0.99)(e.latency_us, e.latency_us > 0) AS latency,
    quantilesBFloat16StateIf(0.5, 0.95, 0.99)(e.first_token_us, e.first_token_us > 0) AS first_token
FROM usage_events AS e
GROUP BY
    hour, tenant_id, key_id, scene, task_type, locale, vendor, model, lane, operation, outcome, cache_outcome,
    error_reason, simulated;

CREATE TABLE IF NOT EXISTS usage_daily /*cluster*/ (
    day Date CODEC(Delta, ZSTD),
    tenant_id LowCardinality(String),
    key_id LowCardinality(String),
    scene LowCardinality(String),
    task_type LowCardinality(String),
    locale LowCardinality(String),
    vendor LowCardinality(String),
    model LowCardinality(String),
    lane LowCardinality(String),
    operation LowCardinality(String),
    outcome LowCardinality(String),
    cache_outcome LowCardinality(String),
    error_reason LowCardinality(String),
    simulated Bool,
    requests SimpleAggregateFunction(sum, UInt64),
    failed SimpleAggregateFunction(sum, UInt64),
    cancelled SimpleAggregateFunction(sum, UInt64),
    attempts SimpleAggregateFunction(sum, UInt64),
    fallbacks SimpleAggregateFunction(sum, UInt64),
    cache_hits SimpleAggregateFunction(sum, UInt64),
    input_tokens SimpleAggregateFunction(sum, UInt64),
    cache_read_tokens SimpleAggregateFunction(sum, UInt64),
    cache_write_tokens SimpleAggregateFunction(sum, UInt64),
    cache_write_1h_tokens SimpleAggregateFunction(sum, UInt64),
    output_tokens SimpleAggregateFunction(sum, UInt64),
    reasoning_tokens SimpleAggregateFunction(sum, UInt64),
    certainty SimpleAggregateFunction(max, UInt8),
    cost SimpleAggregateFunction(sum, Decimal(38, 9)),
    cost_unknown_requests SimpleAggregateFunction(sum, UInt64),
    saved SimpleAggregateFunction(sum, Decimal(38, 9)),
    saved_unknown_requests SimpleAggregateFunction(sum, UInt64),
    latency AggregateFunction(quantilesBFloat16(0.5, 0.95, 0.99), UInt64),
    first_token AggregateFunction(quantilesBFloat16(0.5, 0.95, 0.99), UInt64)
)
ENGINE = /*replicated*/AggregatingMergeTree
PARTITION BY toYear(day)
PRIMARY KEY (tenant_id, day)
ORDER BY (
    tenant_id, day, scene, task_type, vendor, model, key_id, locale, lane, operation, outcome, cache_outcome,
    error_reason, simulated
)
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000,
    replicated_deduplication_window_seconds = 604800;

CREATE MATERIALIZED VIEW IF NOT EXISTS usage_daily_view /*cluster*/ TO usage_daily AS
SELECT
    toDate(counted_at) AS day,
    tenant_id, key_id, scene, task_type, locale, vendor, model, lane, operation, outcome, cache_outcome, error_reason,
    simulated,
    count() AS requests,
    countIf(outcome = 'OUTCOME_FAILED') AS failed,
    countIf(outcome = 'OUTCOME_CANCELLED') AS cancelled,
    sum(e.attempts_made) AS attempts,
    countIf(e.fallback) AS fallbacks,
    countIf(e.cache_hit) AS cache_hits,
    sum(e.input_tokens) AS input_tokens,
    sum(e.cache_read_tokens) AS cache_read_tokens,
    sum(e.cache_write_tokens) AS cache_write_tokens,
    sum(e.cache_write_1h_tokens) AS cache_write_1h_tokens,
    sum(e.output_tokens) AS output_tokens,
    sum(e.reasoning_tokens) AS reasoning_tokens,
    max(e.certainty) AS certainty,
    sum(e.cost) AS cost,
    countIf(e.cost_unknown) AS cost_unknown_requests,
    sum(e.saved) AS saved,
    countIf(e.saved_unknown) AS saved_unknown_requests,
    quantilesBFloat16StateIf(0.5, 0.95, 0.99)(e.latency_us, e.latency_us > 0) AS latency,
    quantilesBFloat16StateIf(0.5, 0.95, 0.99)(e.first_token_us, e.first_token_us > 0) AS first_token
FROM usage_events AS e
GROUP BY
    day, tenant_id, key_id, scene, task_type, locale, vendor, model, lane, operation, outcome, cache_outcome,
    error_reason, simulated;

CREATE TABLE IF NOT EXISTS usage_monthly /*cluster*/ (
    month Date CODEC(Delta, ZSTD),
    tenant_id LowCardinality(String),
    key_id LowCardinality(String),
    scene LowCardinality(String),
    task_type LowCardinality(String),
    locale LowCardinality(String),
    vendor LowCardinality(String),
    model LowCardinality(String),
    lane LowCardinality(String),
    operation LowCardinality(String),
    outcome LowCardinality(String),
    cache_outcome LowCardinality(String),
    error_reason LowCardinality(String),
    simulated Bool,
    requests SimpleAggregateFunction(sum, UInt64),
    failed SimpleAggregateFunction(sum, UInt64),
    cancelled SimpleAggregateFunction(sum, UInt64),
    attempts SimpleAggregateFunction(sum, UInt64),
    fallbacks SimpleAggregateFunction(sum, UInt64),
    cache_hits SimpleAggregateFunction(sum, UInt64),
    input_tokens SimpleAggregateFunction(sum, UInt64),
    cache_read_tokens SimpleAggregateFunction(sum, UInt64),
    cache_write_tokens SimpleAggregateFunction(sum, UInt64),
    cache_write_1h_tokens SimpleAggregateFunction(sum, UInt64),
    output_tokens SimpleAggregateFunction(sum, UInt64),
    reasoning_tokens SimpleAggregateFunction(sum, UInt64),
    certainty SimpleAggregateFunction(max, UInt8),
    cost SimpleAggregateFunction(sum, Decimal(38, 9)),
    cost_unknown_requests SimpleAggregateFunction(sum, UInt64),
    saved SimpleAggregateFunction(sum, Decimal(38, 9)),
    saved_unknown_requests SimpleAggregateFunction(sum, UInt64),
    latency AggregateFunction(quantilesBFloat16(0.5, 0.95, 0.99), UInt64),
    first_token AggregateFunction(quantilesBFloat16(0.5, 0.95, 0.99), UInt64)
)
ENGINE = /*replicated*/AggregatingMergeTree
PARTITION BY toYear(month)
PRIMARY KEY (tenant_id, month)
ORDER BY (
    tenant_id, month, scene, task_type, vendor, model, key_id, locale, lane, operation, outcome, cache_outcome,
    error_reason, simulated
)
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000,
    replicated_deduplication_window_seconds = 604800;

CREATE MATERIALIZED VIEW IF NOT EXISTS usage_monthly_view /*cluster*/ TO usage_monthly AS
SELECT
    toStartOfMonth(counted_at) AS month,
    tenant_id, key_id, scene, task_type, locale, vendor, model, lane, operation, outcome, cache_outcome, error_reason,
    simulated,
    count() AS requests,
    countIf(outcome = 'OUTCOME_FAILED') AS failed,
    countIf(outcome = 'OUTCOME_CANCELLED') AS cancelled,
    sum(e.attempts_made) AS attempts,
    countIf(e.fallback) AS fallbacks,
    countIf(e.cache_hit) AS cache_hits,
    sum(e.input_tokens) AS input_tokens,
    sum(e.cache_read_tokens) AS cache_read_tokens,
    sum(e.cache_write_tokens) AS cache_write_tokens,
    sum(e.cache_write_1h_tokens) AS cache_write_1h_tokens,
    sum(e.output_tokens) AS output_tokens,
    sum(e.reasoning_tokens) AS reasoning_tokens,
    max(e.certainty) AS certainty,
    sum(e.cost) AS cost,
    countIf(e.cost_unknown) AS cost_unknown_requests,
    sum(e.saved) AS saved,
    countIf(e.saved_unknown) AS saved_unknown_requests,
    quantilesBFloat16StateIf(0.5, 0.95, 0.99)(e.latency_us, e.latency_us > 0) AS latency,
    quantilesBFloat16StateIf(0.5, 0.95, 0.99)(e.first_token_us, e.first_token_us > 0) AS first_token
FROM usage_events AS e
GROUP BY
    month, tenant_id, key_id, scene, task_type, locale, vendor, model, lane, operation, outcome, cache_outcome,
    error_reason, simulated;

-- By tenant alone: of many rows it is the quantiles that take time, and this is what is asked most.
CREATE TABLE IF NOT EXISTS usage_daily_by_tenant /*cluster*/ (
    day Date CODEC(Delta, ZSTD),
    tenant_id LowCardinality(String),
    requests SimpleAggregateFunction(sum, UInt64),
    failed SimpleAggregateFunction(sum, UInt64),
    cancelled SimpleAggregateFunction(sum, UInt64),
    attempts SimpleAggregateFunction(sum, UInt64),
    fallbacks SimpleAggregateFunction(sum, UInt64),
    cache_hits SimpleAggregateFunction(sum, UInt64),
    input_tokens SimpleAggregateFunction(sum, UInt64),
    cache_read_tokens SimpleAggregateFunction(sum, UInt64),
    cache_write_tokens SimpleAggregateFunction(sum, UInt64),
    cache_write_1h_tokens SimpleAggregateFunction(sum, UInt64),
    output_tokens SimpleAggregateFunction(sum, UInt64),
    reasoning_tokens SimpleAggregateFunction(sum, UInt64),
    certainty SimpleAggregateFunction(max, UInt8),
    cost SimpleAggregateFunction(sum, Decimal(38, 9)),
    cost_unknown_requests SimpleAggregateFunction(sum, UInt64),
    saved SimpleAggregateFunction(sum, Decimal(38, 9)),
    saved_unknown_requests SimpleAggregateFunction(sum, UInt64),
    latency AggregateFunction(quantilesBFloat16(0.5, 0.95, 0.99), UInt64),
    first_token AggregateFunction(quantilesBFloat16(0.5, 0.95, 0.99), UInt64)
)
ENGINE = /*replicated*/AggregatingMergeTree
PARTITION BY toYear(day)
ORDER BY (tenant_id, day)
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000,
    replicated_deduplication_window_seconds = 604800;

CREATE MATERIALIZED VIEW IF NOT EXISTS usage_daily_by_tenant_view /*cluster*/ TO usage_daily_by_tenant AS
SELECT
    toDate(counted_at) AS day,
    tenant_id,
    count() AS requests,
    countIf(outcome = 'OUTCOME_FAILED') AS failed,
    countIf(outcome = 'OUTCOME_CANCELLED') AS cancelled,
    sum(e.attempts_made) AS attempts,
    countIf(e.fallback) AS fallbacks,
    countIf(e.cache_hit) AS cache_hits,
    sum(e.input_tokens) AS input_tokens,
    sum(e.cache_read_tokens) AS cache_read_tokens,
    sum(e.cache_write_tokens) AS cache_write_tokens,
    sum(e.cache_write_1h_tokens) AS cache_write_1h_tokens,
    sum(e.output_tokens) AS output_tokens,
    sum(e.reasoning_tokens) AS reasoning_tokens,
    max(e.certainty) AS certainty,
    sum(e.cost) AS cost,
    countIf(e.cost_unknown) AS cost_unknown_requests,
    sum(e.saved) AS saved,
    countIf(e.saved_unknown) AS saved_unknown_requests,
    quantilesBFloat16StateIf(0.5, 0.95, 0.99)(e.latency_us, e.latency_us > 0) AS latency,
    quantilesBFloat16StateIf(0.5, 0.95, 0.99)(e.first_token_us, e.first_token_us > 0) AS first_token
FROM usage_events AS e
GROUP BY day, tenant_id;

CREATE TABLE IF NOT EXISTS usage_monthly_by_tenant /*cluster*/ (
    month Date CODEC(Delta, ZSTD),
    tenant_id LowCardinality(String),
    requests SimpleAggregateFunction(sum, UInt64),
    failed SimpleAggregateFunction(sum, UInt64),
    cancelled SimpleAggregateFunction(sum, UInt64),
    attempts SimpleAggregateFunction(sum, UInt64),
    fallbacks SimpleAggregateFunction(sum, UInt64),
    cache_hits SimpleAggregateFunction(sum, UInt64),
    input_tokens SimpleAggregateFunction(sum, UInt64),
    cache_read_tokens SimpleAggregateFunction(sum, UInt64),
    cache_write_tokens SimpleAggregateFunction(sum, UInt64),
    cache_write_1h_tokens SimpleAggregateFunction(sum, UInt64),
    output_tokens SimpleAggregateFunction(sum, UInt64),
    reasoning_tokens SimpleAggregateFunction(sum, UInt64),
    certainty SimpleAggregateFunction(max, UInt8),
    cost SimpleAggregateFunction(sum, Decimal(38, 9)),
    cost_unknown_requests SimpleAggregateFunction(sum, UInt64),
    saved SimpleAggregateFunction(sum, Decimal(38, 9)),
    saved_unknown_requests SimpleAggregateFunction(sum, UInt64),
    latency AggregateFunction(quantilesBFloat16(0.5, 0.95, 0.99), UInt64),
    first_token AggregateFunction(quantilesBFloat16(0.5, 0.95, 0.99), UInt64)
)
ENGINE = /*replicated*/AggregatingMergeTree
PARTITION BY toYear(month)
ORDER BY (tenant_id, month)
SETTINGS non_replicated_deduplication_window = 10000, replicated_deduplication_window = 10000,
    replicated_deduplication_window_seconds = 604800;

CREATE MATERIALIZED VIEW IF NOT EXISTS usage_monthly_by_tenant_view /*cluster*/ TO usage_monthly_by_tenant AS
SELECT
    toStartOfMonth(counted_at) AS month,
    tenant_id,
    count() AS requests,
    countIf(outcome = 'OUTCOME_FAILED') AS failed,
    countIf(outcome = 'OUTCOME_CANCELLED') AS cancelled,
    sum(e.attempts_made) AS attempts,
    countIf(e.fallback) AS fallbacks,
    countIf(e.cache_hit) AS cache_hits,
    sum(e.input_tokens) AS input_tokens,
    sum(e.cache_read_tokens) AS cache_read_tokens,
    sum(e.cache_write_tokens) AS cache_write_tokens,
    sum(e.cache_write_1h_tokens) AS cache_write_1h_tokens,
    sum(e.output_tokens) AS output_tokens,
    sum(e.reasoning_tokens) AS reasoning_tokens,
    max(e.certainty) AS certainty,
    sum(e.cost) AS cost,
    countIf(e.cost_unknown) AS cost_unknown_requests,
    sum(e.saved) AS saved,
    countIf(e.saved_unknown) AS saved_unknown_requests,
    quantilesBFloat16StateIf(0.5, 0.95, 0.99)(e.latency_us, e.latency_us > 0) AS latency,
    quantilesBFloat16StateIf(0.5, 0.95, 0.99)(e.first_token_us, e.first_token_us > 0) AS first_token
FROM usage_events AS e
GROUP BY month, tenant_id;

-- Months that ended before `before` are closed since `at`: the earliest such row holds.
CREATE TABLE IF NOT EXISTS usage_closings /*cluster*/ (
    before DateTime64(6, 'UTC'),
    at DateTime64(6, 'UTC')
)
ENGINE = /*replicated*/MergeTree
ORDER BY (before, at)
SETTINGS non_replicated_deduplication_window = 100, replicated_deduplication_window = 100;
