-- The era of all feeds: a restore raises it, and cursors of another era are refused. 0: the database was never restored. Global
-- table of one row.
CREATE TABLE feed_era (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  era     bigint NOT NULL DEFAULT 0 CHECK (era >= 0)
);

INSERT INTO feed_era DEFAULT VALUES;
