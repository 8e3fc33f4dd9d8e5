-- Finds one request, or those of an article, without reading a tenant's month; and what was inserted lately.
ALTER TABLE usage_events /*cluster*/ ADD INDEX IF NOT EXISTS request_id request_id TYPE bloom_filter(0.01);

ALTER TABLE usage_events /*cluster*/ ADD INDEX IF NOT EXISTS reference reference TYPE bloom_filter(0.01);

ALTER TABLE usage_events /*cluster*/ ADD INDEX IF NOT EXISTS inserted_at inserted_at TYPE minmax;
