-- transaction: off
-- Due deliveries of all credentials, the oldest first, for the poll alone: the poll repeats the second condition, which is always true. A
-- statement for one credential cannot use this index, in which it would read the due deliveries of all others.
CREATE INDEX CONCURRENTLY IF NOT EXISTS delivery_due_at ON delivery (next_attempt_at) WITH (deduplicate_items = off)
  WHERE status = 'pending' AND next_attempt_at > '-infinity';
