//! The tables, by version. A version that was released is never edited: a change is a new one.

use signalbox_sql::Migrations;

/// Of ledger and tenants.
pub(crate) const MIGRATIONS: Migrations = Migrations {
    steps: &[
        (1, "ledger", include_str!("../migrations/0001_ledger.sql")),
        (2, "tenants", include_str!("../migrations/0002_tenants.sql")),
        (3, "retention", include_str!("../migrations/0003_retention.sql")),
        (4, "pulse", include_str!("../migrations/0004_pulse.sql")),
    ],
    table: "ledger_migrations",
    lock: 7_245_010_393_870_412,
};
