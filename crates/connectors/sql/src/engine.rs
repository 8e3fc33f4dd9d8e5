//! What PostgreSQL and SQLite name differently.

use crate::Patience;

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// A server.
    Postgres,
    /// A file.
    Sqlite,
}

impl Engine {
    /// Begins a transaction. SQLite has one writer at a time: it waits for another now, not when it has read already
    /// and would have to fail.
    pub(crate) const fn begin(self) -> &'static str {
        match self {
            Self::Postgres => "BEGIN ISOLATION LEVEL READ COMMITTED",
            Self::Sqlite => "BEGIN IMMEDIATE",
        }
    }

    /// What every connection is told first.
    pub(crate) fn set_up(self, patience: Patience) -> String {
        let Patience { statement, lock, idle, .. } = patience;
        match self {
            // A client that stands still must not hold what others wait for.
            Self::Postgres => format!(
                "SET statement_timeout = '{}ms'; SET lock_timeout = '{}ms'; \
                 SET idle_in_transaction_session_timeout = '{}ms'",
                statement.as_millis(),
                lock.as_millis(),
                idle.as_millis()
            ),
            // What is written must outlive a loss of power.
            Self::Sqlite => format!(
                "PRAGMA busy_timeout = {}; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
                 PRAGMA temp_store = MEMORY",
                statement.as_millis()
            ),
        }
    }

    /// Ends a SELECT from a table that it calls `t`, whose rows are changed later in the transaction.
    pub const fn for_update(self) -> &'static str {
        match self {
            Self::Postgres => " FOR UPDATE OF t",
            Self::Sqlite => "",
        }
    }

    /// The same, but rows that another transaction holds are left out.
    pub const fn for_update_of_free(self) -> &'static str {
        match self {
            Self::Postgres => " FOR UPDATE OF t SKIP LOCKED",
            Self::Sqlite => "",
        }
    }

    /// Rows that come as one argument, a JSON list of objects: so a statement is the same for any number of them.
    /// `columns` is as in `tenant_id text, amount bigint`.
    pub fn given(self, argument: &str, columns: &str) -> String {
        match self {
            Self::Postgres => format!("jsonb_to_recordset({argument}::jsonb) AS given({columns})"),
            Self::Sqlite => {
                let names = columns.split(',').filter_map(|column| column.split_whitespace().next());
                let fields: Vec<String> = names.map(|name| format!("value ->> '{name}' AS {name}")).collect();
                format!("(SELECT {} FROM json_each({argument})) AS given", fields.join(", "))
            }
        }
    }

    /// The bytes of an argument from `start` on, counted from 1, as many as `size`: so that one argument holds those of
    /// many rows.
    pub fn slice(self, argument: &str, start: &str, size: &str) -> String {
        match self {
            Self::Postgres => format!("substr({argument}::bytea, {start}, {size})"),
            // What is cut from nothing would be NULL.
            Self::Sqlite => format!("COALESCE(substr({argument}, {start}, {size}), x'')"),
        }
    }

    /// A migration in this engine's words.
    pub fn schema(self, sql: &str) -> String {
        let words = match self {
            // Text is ordered by its bytes, as everywhere else.
            Self::Postgres => [
                ("{text}", "TEXT COLLATE \"C\""),
                ("{int}", "BIGINT"),
                ("{bytes}", "BYTEA"),
                ("{serial}", "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY"),
                ("{strict}", ""),
            ],
            Self::Sqlite => [
                ("{text}", "TEXT"),
                ("{int}", "INTEGER"),
                ("{bytes}", "BLOB"),
                ("{serial}", "INTEGER PRIMARY KEY AUTOINCREMENT"),
                ("{strict}", "STRICT"),
            ],
        };
        words.iter().fold(sql.to_owned(), |sql, (word, meaning)| sql.replace(word, meaning))
    }
}
