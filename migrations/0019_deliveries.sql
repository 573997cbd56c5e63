-- The state of a delivery changes at each attempt, but its event never changes. So both have a table of their own. A change of this short
-- row costs half of what a change of the row of the event did (docs/decisions/0028-delivery-table.md).
CREATE TABLE delivery (
  tenant_id       bigint NOT NULL,
  -- Id of the event. There is no foreign key, because its check would make the INSERT of an event and its delivery a third slower. One
  -- statement writes both rows, and one statement removes both rows.
  id              uuid NOT NULL,
  credential_id   uuid NOT NULL,
  status          text NOT NULL CHECK (status IN ('pending', 'delivered', 'failed', 'stopped')),
  attempt_count   smallint NOT NULL DEFAULT 0 CHECK (attempt_count BETWEEN 0 AND 5),
  -- Attempts with their outcomes. If `attempt_count` is greater than the number of entries, the last attempt has no recorded outcome.
  attempts        jsonb NOT NULL DEFAULT '[]',
  next_attempt_at timestamptz NOT NULL DEFAULT now(),
  -- End of the lease. Until then, no other worker claims the delivery. Null: no worker holds the delivery. No index has this column, so a
  -- claim adds no index entries (a HOT update).
  leased_until    timestamptz,
  -- Time of the last claim, at which the last counted attempt began.
  claimed_at      timestamptz,
  lease_id        uuid,
  PRIMARY KEY (tenant_id, id)
-- The free space of a page takes the new version of a row at its claim.
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02);

INSERT INTO delivery (tenant_id, id, credential_id, status, attempt_count, attempts, next_attempt_at, claimed_at)
  SELECT tenant_id, id, credential_id, delivery_status, attempt_count, attempts, next_attempt_at, (attempts -> -1 ->> 'at')::timestamptz
  FROM event WHERE delivery_status IS NOT NULL;

-- Due deliveries of each credential. Deduplication would join the entries of deliveries that became due at the same moment, and a look-up
-- then skips no dead entry until all of them are dead.
CREATE INDEX delivery_due ON delivery (tenant_id, credential_id, next_attempt_at) WITH (deduplicate_items = off) WHERE status = 'pending';
-- List of the staff by status, newest first. The primary key serves the list of all deliveries.
CREATE INDEX delivery_by_status ON delivery (tenant_id, status, id);
-- Failed deliveries of each credential.
CREATE INDEX delivery_failed ON delivery (tenant_id, credential_id, id) WHERE status = 'failed';

-- This also drops the indexes of these columns.
ALTER TABLE event
  DROP COLUMN delivery_status,
  DROP COLUMN attempt_count,
  DROP COLUMN attempts,
  DROP COLUMN next_attempt_at,
  DROP COLUMN lease_id;
ALTER TABLE event RESET (autovacuum_vacuum_scale_factor);
