-- What entries came to that were deleted for their age, so that an account is still what its entries add up to.
CREATE TABLE carried (
    tenant_id {text} NOT NULL,
    budget_id {text} NOT NULL,
    period_id {text} NOT NULL,
    kind      {int}  NOT NULL,
    entries   {int}  NOT NULL,
    amount    {int}  NOT NULL,
    PRIMARY KEY (tenant_id, budget_id, period_id, kind)
) {strict};

-- The last entry that was looked at for it. Whoever deletes holds the row.
CREATE TABLE pruned (entry_id {int} NOT NULL) {strict};

INSERT INTO pruned VALUES (0);

-- What holds nothing any more.
CREATE INDEX leases_over ON leases (expires_at) WHERE state >= 2;
CREATE INDEX reservations_over ON reservations (expires_at) WHERE is_open = 0;
