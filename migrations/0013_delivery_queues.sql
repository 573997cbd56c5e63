-- Due deliveries are looked for credential by credential, so that a long backlog of one hides no other's.
DROP INDEX event_due;
CREATE INDEX event_due ON event (tenant_id, credential_id, next_attempt_at) WHERE delivery_status = 'pending';
-- What the owner is told of each credential; small, for few deliveries end so.
CREATE INDEX event_failed ON event (tenant_id, credential_id, id) WHERE delivery_status = 'failed';
-- Deliveries come and go like a queue: dead entries at the head of an index would cost every look into it.
ALTER TABLE event SET (autovacuum_vacuum_scale_factor = 0.02);
