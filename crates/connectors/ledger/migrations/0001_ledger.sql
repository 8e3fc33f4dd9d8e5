-- What stands in braces is named differently by PostgreSQL and SQLite: see src/engine.rs.
-- Amounts are nano-EUR, times are nanoseconds since 1970.

-- One period of one budget: limit_amount = free + leased + reserved + settled. `opened` is 0 while only settlements
-- have spoken of it: what its limit is, is not known yet.
CREATE TABLE accounts (
    tenant_id    {text} NOT NULL,
    budget_id    {text} NOT NULL,
    period_id    {text} NOT NULL,
    opened       {int}  NOT NULL,
    limit_amount {int}  NOT NULL,
    settled      {int}  NOT NULL,
    reserved     {int}  NOT NULL CHECK (reserved >= 0),
    leased       {int}  NOT NULL CHECK (leased >= 0),
    PRIMARY KEY (tenant_id, budget_id, period_id)
) {strict};

-- What a replica may spend of an account. Outstanding is granted - returned - settled - written_off, or nothing where
-- that is negative. `state`: 0 it lives, 1 its replica is lost and what is outstanding is held, 2 that was written off,
-- 3 it has ended.
CREATE TABLE leases (
    lease_id    {text} NOT NULL PRIMARY KEY,
    replica_id  {text} NOT NULL,
    tenant_id   {text} NOT NULL,
    budget_id   {text} NOT NULL,
    period_id   {text} NOT NULL,
    state       {int}  NOT NULL,
    granted     {int}  NOT NULL,
    returned    {int}  NOT NULL,
    settled     {int}  NOT NULL,
    written_off {int}  NOT NULL,
    expires_at  {int}  NOT NULL,
    orphaned_at {int}  NOT NULL
) {strict};

CREATE INDEX leases_alive ON leases (tenant_id, budget_id, period_id) WHERE state = 0;
CREATE INDEX leases_by_expiry ON leases (expires_at) WHERE state = 0;
CREATE INDEX leases_orphaned ON leases (orphaned_at) WHERE state = 1;
CREATE INDEX leases_by_replica ON leases (replica_id) WHERE state < 3;

-- What one spender may spend of an account. While it is open, amount - settled is held, or nothing where that is
-- negative.
CREATE TABLE reservations (
    reservation_id {text} NOT NULL,
    tenant_id      {text} NOT NULL,
    budget_id      {text} NOT NULL,
    period_id      {text} NOT NULL,
    request_id     {text} NOT NULL,
    is_open        {int}  NOT NULL,
    amount         {int}  NOT NULL,
    settled        {int}  NOT NULL,
    expires_at     {int}  NOT NULL,
    PRIMARY KEY (reservation_id, tenant_id, budget_id, period_id)
) {strict};

CREATE INDEX reservations_by_expiry ON reservations (expires_at) WHERE is_open = 1;

-- Every movement, for good. `kind` is a signalbox.v1.LedgerEntry.Kind.
CREATE TABLE entries (
    entry_id   {serial},
    tenant_id  {text} NOT NULL,
    budget_id  {text} NOT NULL,
    period_id  {text} NOT NULL,
    kind       {int}  NOT NULL,
    amount     {int}  NOT NULL,
    estimated  {int}  NOT NULL,
    request_id {text} NOT NULL,
    hold_id    {text} NOT NULL,
    source_id  {text} NOT NULL,
    reason     {text} NOT NULL,
    created_at {int}  NOT NULL
) {strict};

CREATE INDEX entries_by_tenant ON entries (tenant_id, entry_id);
CREATE INDEX entries_by_request ON entries (tenant_id, request_id, budget_id);
-- Settlements.
CREATE INDEX entries_settled ON entries (created_at) WHERE kind = 6;

-- What was done already, by the id it was asked for with: whoever asks again moves nothing. `result` is what a grant
-- must find again.
CREATE TABLE operations (
    kind   {text} NOT NULL,
    id     {text} NOT NULL,
    result {text} NOT NULL,
    PRIMARY KEY (kind, id)
) {strict};
