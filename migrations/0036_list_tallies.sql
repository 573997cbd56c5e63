-- Counts of the rows of a long list, for one part of it. A part has the rows whose ids are of one period, for example of one day. Only rows in a
-- final status are counted, because such rows never change. A tally counts only while the part still has as many other rows as it had when the
-- tally was made, and while its first row still exists. So nothing has to update tallies, and a stale tally is never used.
CREATE TABLE list_tally (
  tenant_id      bigint NOT NULL,
  list           text NOT NULL CHECK (list IN ('orders', 'deliveries')),
  -- Bounds of the ids of the part. The second one is not in the part.
  from_id        uuid NOT NULL,
  before_id      uuid NOT NULL,
  -- Smallest id of a counted row. Null: no row is counted.
  first_id       uuid,
  -- Number of rows of the part that were not in a final status.
  open_count     integer NOT NULL,
  -- Groups of rows with the same status, kind (the type of an order, or the name of an event) and credential. The four arrays have one element
  -- for each group.
  statuses       text[] NOT NULL,
  kinds          text[] NOT NULL,
  credential_ids uuid[] NOT NULL,
  counts         integer[] NOT NULL,
  PRIMARY KEY (tenant_id, list, from_id)
);
