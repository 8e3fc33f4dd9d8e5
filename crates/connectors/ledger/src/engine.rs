//! What PostgreSQL and SQLite name differently.

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Engine {
    Postgres,
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
    pub(crate) const fn set_up(self) -> &'static str {
        match self {
            // A client that stands still must not hold an account for long.
            Self::Postgres => {
                "SET statement_timeout = '8s'; SET lock_timeout = '6s'; \
                 SET idle_in_transaction_session_timeout = '10s'"
            }
            // What is booked must outlive a loss of power.
            Self::Sqlite => {
                "PRAGMA busy_timeout = 8000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; \
                 PRAGMA temp_store = MEMORY"
            }
        }
    }

    /// Ends a SELECT from a table that it calls `t`, whose rows are changed later in the transaction.
    pub(crate) const fn for_update(self) -> &'static str {
        match self {
            Self::Postgres => " FOR UPDATE OF t",
            Self::Sqlite => "",
        }
    }

    /// Rows that come as one argument, a JSON list of objects: so a statement is the same for any number of them.
    /// `columns` is as in `tenant_id text, amount bigint`.
    pub(crate) fn given(self, argument: &str, columns: &str) -> String {
        match self {
            Self::Postgres => format!("jsonb_to_recordset({argument}::jsonb) AS given({columns})"),
            Self::Sqlite => {
                let names = columns.split(',').filter_map(|column| column.split_whitespace().next());
                let fields: Vec<String> = names.map(|name| format!("value ->> '{name}' AS {name}")).collect();
                format!("(SELECT {} FROM json_each({argument})) AS given", fields.join(", "))
            }
        }
    }

    /// A migration in this engine's words.
    pub(crate) fn schema(self, sql: &str) -> String {
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
