-- Due deliveries are looked for credential by credential, so that a long backlog of one hides no other's.
DROP INDEX event_due;
CREATE INDEX event_due ON event (tenant_id, credential_id, next_attempt_at) WHERE delivery_status = 'pending';
-- What the owner is told of each credential; small, for few deliveries end so.
CREATE INDEX event_failed ON event (tenant_id, credential_id, id) WHERE delivery_status = 'failed';
