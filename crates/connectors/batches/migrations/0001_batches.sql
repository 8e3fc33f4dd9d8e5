-- What stands in braces is named differently by PostgreSQL and SQLite: see signalbox-sql.
-- Times are nanoseconds since 1970, 0 is never; amounts are nano-EUR.

-- `state`: 0 running, 1 being cancelled, 2 ended. `left_items` have not ended; the others have a result each.
CREATE TABLE batch_jobs (
    job_no       {serial},
    tenant_id    {text}  NOT NULL,
    job_id       {text}  NOT NULL,
    details      {bytes} NOT NULL,
    state        {int}   NOT NULL,
    total        {int}   NOT NULL,
    left_items   {int}   NOT NULL CHECK (left_items >= 0),
    succeeded    {int}   NOT NULL,
    failed       {int}   NOT NULL,
    cancelled    {int}   NOT NULL,
    expired      {int}   NOT NULL,
    reserved     {int}   NOT NULL,
    cost         {int}   NOT NULL,
    cost_unknown {int}   NOT NULL,
    created_at   {int}   NOT NULL,
    complete_by  {int}   NOT NULL,
    ended_at     {int}   NOT NULL,
    expires_at   {int}   NOT NULL,
    settled      {int}   NOT NULL,
    UNIQUE (tenant_id, job_id)
) {strict};

CREATE INDEX batch_jobs_by_tenant ON batch_jobs (tenant_id, job_no);
CREATE INDEX batch_jobs_at_work ON batch_jobs (job_no) WHERE state < 2;
CREATE INDEX batch_jobs_unsettled ON batch_jobs (job_no) WHERE state = 2 AND settled = 0;
CREATE INDEX batch_jobs_by_expiry ON batch_jobs (expires_at) WHERE settled = 1;

-- `state`: 0 open, 1 being handed over, 2 at the vendor, 3 ended, 4 refused. `lane`: 0 batch, 1 usual calls. `kind`: 0
-- answers, 1 vectors. `items` and `bytes` are what joined it, `live` what neither ended nor went on. Whoever changes an
-- item holds its window's row.
CREATE TABLE batch_windows (
    window_id       {text} NOT NULL PRIMARY KEY,
    vendor          {text} NOT NULL,
    model           {text} NOT NULL,
    lane            {int}  NOT NULL,
    kind            {int}  NOT NULL,
    state           {int}  NOT NULL,
    items           {int}  NOT NULL,
    bytes           {int}  NOT NULL,
    live            {int}  NOT NULL CHECK (live >= 0),
    opened_at       {int}  NOT NULL,
    due_at          {int}  NOT NULL,
    handed_at       {int}  NOT NULL,
    vendor_batch_id {text} NOT NULL,
    submitted_at    {int}  NOT NULL,
    expires_at      {int}  NOT NULL,
    cancel_asked    {int}  NOT NULL,
    ended_at        {int}  NOT NULL,
    error_reason    {text} NOT NULL,
    lease_owner     {text} NOT NULL,
    lease_no        {int}  NOT NULL,
    lease_until     {int}  NOT NULL
) {strict};

CREATE INDEX batch_windows_due ON batch_windows (due_at) WHERE state < 3;
CREATE INDEX batch_windows_open ON batch_windows (vendor, model, lane, kind) WHERE state = 0;

-- What of a job is or was in a window: `joined` and did not go on, and of these `live`, which have not ended.
CREATE TABLE batch_shares (
    job_no    {int}  NOT NULL,
    window_id {text} NOT NULL,
    joined    {int}  NOT NULL,
    live      {int}  NOT NULL CHECK (live >= 0),
    PRIMARY KEY (job_no, window_id)
) {strict};

CREATE INDEX batch_shares_by_window ON batch_shares (window_id);

-- Items that have not ended: what ends goes from here, with what was asked. `trail` is JSON.
CREATE TABLE batch_items (
    job_no    {int}   NOT NULL,
    item_no   {int}   NOT NULL,
    item_id   {text}  NOT NULL,
    window_id {text}  NOT NULL,
    bytes     {int}   NOT NULL,
    trail     {text}  NOT NULL,
    request   {bytes} NOT NULL,
    history   {bytes} NOT NULL,
    note      {bytes} NOT NULL,
    PRIMARY KEY (job_no, item_no)
) {strict};

CREATE INDEX batch_items_by_window ON batch_items (window_id, job_no, item_no);

-- `outcome`: 0 succeeded, 1 failed, 2 cancelled, 3 expired. `seq` is the order in which they came, from 1.
CREATE TABLE batch_results (
    job_no   {int}   NOT NULL,
    seq      {int}   NOT NULL,
    item_id  {text}  NOT NULL,
    outcome  {int}   NOT NULL,
    result   {bytes} NOT NULL,
    ended_at {int}   NOT NULL,
    PRIMARY KEY (job_no, seq)
) {strict};

-- Accounts that nobody has told yet.
CREATE TABLE batch_events (
    event_no {serial},
    job_no   {int}   NOT NULL,
    event    {bytes} NOT NULL
) {strict};

CREATE INDEX batch_events_by_job ON batch_events (job_no);
