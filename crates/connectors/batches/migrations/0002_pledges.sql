-- Money that is about to be set aside for jobs that are not kept yet. `lost` is 1 once somebody is to set it free again, and
-- no job may be kept for it any more.
CREATE TABLE batch_pledges (
    pledge_id {text}  NOT NULL PRIMARY KEY,
    details   {bytes} NOT NULL,
    due_at    {int}   NOT NULL,
    lost      {int}   NOT NULL
) {strict};

CREATE INDEX batch_pledges_due ON batch_pledges (due_at);

-- The window from whose refusal this one was made, and for which nobody else joins it; empty for most.
ALTER TABLE batch_windows ADD COLUMN root_id {text} NOT NULL DEFAULT '';

CREATE INDEX batch_windows_by_root ON batch_windows (root_id) WHERE root_id <> '';

-- One row, which is written to see that the store can be.
CREATE TABLE batch_pulse (
    pulse   {int} NOT NULL PRIMARY KEY,
    beat_at {int} NOT NULL
) {strict};
