-- transaction: off
-- Due deliveries of all credentials, the oldest first. A poll that finds none ends at its first look-up.
CREATE INDEX CONCURRENTLY IF NOT EXISTS delivery_due_at ON delivery (next_attempt_at) WITH (deduplicate_items = off) WHERE status = 'pending';
