-- Each of these holds its message of signalbox.v1, and in columns what is asked for.
CREATE TABLE tenants (
    tenant_id {text}  NOT NULL PRIMARY KEY,
    etag      {text}  NOT NULL,
    tenant    {bytes} NOT NULL
) {strict};

CREATE TABLE budgets (
    tenant_id {text}  NOT NULL,
    budget_id {text}  NOT NULL,
    etag      {text}  NOT NULL,
    budget    {bytes} NOT NULL,
    PRIMARY KEY (tenant_id, budget_id)
) {strict};

-- `digest` is the SHA-256 of the whole key. `revoked_at` and `used_at` are in no message; 0 is never.
CREATE TABLE api_keys (
    position   {serial},
    key_id     {text}  NOT NULL UNIQUE,
    tenant_id  {text}  NOT NULL,
    digest     {bytes} NOT NULL UNIQUE,
    revoked_at {int}   NOT NULL,
    used_at    {int}   NOT NULL,
    api_key    {bytes} NOT NULL
) {strict};

CREATE INDEX api_keys_by_tenant ON api_keys (tenant_id, position);

CREATE TABLE audit (
    position  {serial},
    audit_id  {text}  NOT NULL UNIQUE,
    tenant_id {text}  NOT NULL,
    entry     {bytes} NOT NULL
) {strict};

CREATE INDEX audit_by_tenant ON audit (tenant_id, position);

-- What replicas must hear of, in the order in which it can be seen: whoever adds one holds the row of last_change until
-- it is committed.
CREATE TABLE changes (
    position  {int}  NOT NULL PRIMARY KEY,
    kind      {text} NOT NULL,
    tenant_id {text} NOT NULL,
    item_id   {text} NOT NULL
) {strict};

CREATE TABLE last_change (position {int} NOT NULL) {strict};

INSERT INTO last_change VALUES (0);
