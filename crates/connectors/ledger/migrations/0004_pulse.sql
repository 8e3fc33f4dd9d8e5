-- Counted up to see whether the store can be written: SQLite does not write a row that stays as it is.
CREATE TABLE pulse (beats {int} NOT NULL) {strict};

INSERT INTO pulse VALUES (0);
