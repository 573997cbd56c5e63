-- Transaction that made the change. A process reads only the changes of transactions that were running at its last look or began later. The
-- previous version inserts no value, so the value is a default.
ALTER TABLE recent_change ADD COLUMN transaction_id xid8 NOT NULL DEFAULT pg_current_xact_id();

-- The table has the changes of ten minutes, so the index is built in a moment.
CREATE INDEX recent_change_by_transaction ON recent_change (transaction_id);

-- Leases of the workers that search for due deliveries. A worker that holds no lease does not search. Global table: its rows belong to no
-- tenant. No index has the columns that a renewal changes, and the free space of the page takes the new version (a HOT update).
CREATE TABLE scan_lease (
  slot         integer PRIMARY KEY,
  -- Worker that holds the lease. Null: no worker has taken the lease, or the last holder has given it back.
  holder       uuid,
  leased_until timestamptz NOT NULL DEFAULT '-infinity',
  -- Time until which workers may hold this lease. The first leases are always open. The others are opened while holders have more due
  -- deliveries than they can send.
  open_until   timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 60);

INSERT INTO scan_lease (slot, open_until)
  SELECT slot, CASE WHEN slot <= 4 THEN 'infinity' ELSE '-infinity' END::timestamptz FROM generate_series(1, 60) AS slot;
