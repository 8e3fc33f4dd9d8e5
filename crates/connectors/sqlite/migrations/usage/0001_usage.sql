-- Times are UTC since 1970: in nanoseconds where an event counts, in seconds where a bucket starts.

-- What events are grouped by, apart from their reference: each combination that has occurred, once. The values are
-- those of UsageRow.group.
CREATE TABLE usage_series (
    id            INTEGER PRIMARY KEY,
    tenant        TEXT NOT NULL,
    key           TEXT NOT NULL,
    scene         TEXT NOT NULL,
    task_type     TEXT NOT NULL,
    locale        TEXT NOT NULL,
    vendor        TEXT NOT NULL,
    model         TEXT NOT NULL,
    lane          TEXT NOT NULL,
    operation     TEXT NOT NULL,
    outcome       TEXT NOT NULL,
    cache_outcome TEXT NOT NULL,
    error_reason  TEXT NOT NULL,
    simulated     TEXT NOT NULL,
    UNIQUE (tenant, key, scene, task_type, locale, vendor, model, lane, operation, outcome, cache_outcome,
            error_reason, simulated)
) STRICT;

-- Every event: what sums need in columns, all of it in `event` (a signalbox.v1.UsageEvent).
-- `latency` and `first_token` are buckets of a sketch; `certainty` is that of the token counts.
CREATE TABLE usage_events (
    id                    INTEGER PRIMARY KEY,
    event_id              TEXT    NOT NULL UNIQUE,
    counted_at            INTEGER NOT NULL,
    series                INTEGER NOT NULL REFERENCES usage_series (id),
    request_id            TEXT    NOT NULL,
    reference             TEXT    NOT NULL,
    attempts              INTEGER NOT NULL,
    fallbacks             INTEGER NOT NULL,
    cache_hits            INTEGER NOT NULL,
    input_tokens          INTEGER NOT NULL,
    cache_read_tokens     INTEGER NOT NULL,
    cache_write_tokens    INTEGER NOT NULL,
    cache_write_1h_tokens INTEGER NOT NULL,
    output_tokens         INTEGER NOT NULL,
    reasoning_tokens      INTEGER NOT NULL,
    cost_nano_eur         INTEGER NOT NULL,
    cost_unknown          INTEGER NOT NULL,
    saved_nano_eur        INTEGER NOT NULL,
    saved_unknown         INTEGER NOT NULL,
    certainty             INTEGER NOT NULL,
    latency               INTEGER,
    first_token           INTEGER,
    event                 BLOB    NOT NULL
) STRICT;

CREATE INDEX usage_events_by_time ON usage_events (counted_at, series);
CREATE INDEX usage_events_by_request ON usage_events (request_id);
CREATE INDEX usage_events_by_reference ON usage_events (reference, counted_at) WHERE reference <> '';

-- Sums of each series by the hour, the day and the month. `latency` and `first_token` are sketches.
CREATE TABLE usage_hourly (
    start                 INTEGER NOT NULL,
    series                INTEGER NOT NULL REFERENCES usage_series (id),
    requests              INTEGER NOT NULL,
    attempts              INTEGER NOT NULL,
    fallbacks             INTEGER NOT NULL,
    cache_hits            INTEGER NOT NULL,
    input_tokens          INTEGER NOT NULL,
    cache_read_tokens     INTEGER NOT NULL,
    cache_write_tokens    INTEGER NOT NULL,
    cache_write_1h_tokens INTEGER NOT NULL,
    output_tokens         INTEGER NOT NULL,
    reasoning_tokens      INTEGER NOT NULL,
    cost_nano_eur         INTEGER NOT NULL,
    cost_unknown          INTEGER NOT NULL,
    saved_nano_eur        INTEGER NOT NULL,
    saved_unknown         INTEGER NOT NULL,
    certainty             INTEGER NOT NULL,
    latency               TEXT    NOT NULL,
    first_token           TEXT    NOT NULL,
    PRIMARY KEY (start, series)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_daily (
    start                 INTEGER NOT NULL,
    series                INTEGER NOT NULL REFERENCES usage_series (id),
    requests              INTEGER NOT NULL,
    attempts              INTEGER NOT NULL,
    fallbacks             INTEGER NOT NULL,
    cache_hits            INTEGER NOT NULL,
    input_tokens          INTEGER NOT NULL,
    cache_read_tokens     INTEGER NOT NULL,
    cache_write_tokens    INTEGER NOT NULL,
    cache_write_1h_tokens INTEGER NOT NULL,
    output_tokens         INTEGER NOT NULL,
    reasoning_tokens      INTEGER NOT NULL,
    cost_nano_eur         INTEGER NOT NULL,
    cost_unknown          INTEGER NOT NULL,
    saved_nano_eur        INTEGER NOT NULL,
    saved_unknown         INTEGER NOT NULL,
    certainty             INTEGER NOT NULL,
    latency               TEXT    NOT NULL,
    first_token           TEXT    NOT NULL,
    PRIMARY KEY (start, series)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_monthly (
    start                 INTEGER NOT NULL,
    series                INTEGER NOT NULL REFERENCES usage_series (id),
    requests              INTEGER NOT NULL,
    attempts              INTEGER NOT NULL,
    fallbacks             INTEGER NOT NULL,
    cache_hits            INTEGER NOT NULL,
    input_tokens          INTEGER NOT NULL,
    cache_read_tokens     INTEGER NOT NULL,
    cache_write_tokens    INTEGER NOT NULL,
    cache_write_1h_tokens INTEGER NOT NULL,
    output_tokens         INTEGER NOT NULL,
    reasoning_tokens      INTEGER NOT NULL,
    cost_nano_eur         INTEGER NOT NULL,
    cost_unknown          INTEGER NOT NULL,
    saved_nano_eur        INTEGER NOT NULL,
    saved_unknown         INTEGER NOT NULL,
    certainty             INTEGER NOT NULL,
    latency               TEXT    NOT NULL,
    first_token           TEXT    NOT NULL,
    PRIMARY KEY (start, series)
) STRICT, WITHOUT ROWID;

-- Hours before `until` (seconds) are in usage_daily and usage_monthly, too.
CREATE TABLE usage_folded (
    id    INTEGER PRIMARY KEY CHECK (id = 1),
    until INTEGER NOT NULL
) STRICT;

-- Calls of each vendor and model by the minute.
CREATE TABLE usage_minutes (
    start         INTEGER NOT NULL,
    vendor        TEXT    NOT NULL,
    model         TEXT    NOT NULL,
    calls         INTEGER NOT NULL,
    failed        INTEGER NOT NULL,
    fell_back     INTEGER NOT NULL,
    first_choices INTEGER NOT NULL,
    structured    INTEGER NOT NULL,
    invalid       INTEGER NOT NULL,
    cost_nano_eur INTEGER NOT NULL,
    priced        INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    answered      INTEGER NOT NULL,
    PRIMARY KEY (start, vendor, model)
) STRICT, WITHOUT ROWID;

-- All months that ended at or before `until` (seconds) were closed at `closed_at` (nanoseconds), or before.
CREATE TABLE usage_closings (
    until     INTEGER PRIMARY KEY,
    closed_at INTEGER NOT NULL
) STRICT;

-- Events that count before `before` (seconds) were removed; their sums were not.
CREATE TABLE usage_expiry (
    id     INTEGER PRIMARY KEY CHECK (id = 1),
    before INTEGER NOT NULL
) STRICT;
