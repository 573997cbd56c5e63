-- An event and its delivery, one row: an event has at most one receiver, the webhook of the credential it belongs to.
CREATE TABLE event (
  tenant_id       bigint NOT NULL,
  id              uuid NOT NULL,
  credential_id   uuid NOT NULL,
  type            text NOT NULL,
  -- The exact bytes that are sent and signed, at every attempt the same.
  body            text NOT NULL,
  created_at      timestamptz NOT NULL,
  -- Null: no webhook was registered when the event was written, so there is nothing to deliver.
  delivery_status text CHECK (delivery_status IN ('pending', 'delivered', 'failed', 'stopped')),
  attempt_count   smallint NOT NULL DEFAULT 0 CHECK (attempt_count BETWEEN 0 AND 5),
  attempts        jsonb NOT NULL DEFAULT '[]',
  -- When a worker may take the delivery: for a waiting one the retry time, for one under way the end of its lease.
  next_attempt_at timestamptz NOT NULL DEFAULT now(),
  lease_id        uuid,
  PRIMARY KEY (tenant_id, id),
  FOREIGN KEY (tenant_id, credential_id) REFERENCES credential (tenant_id, id)
);

-- The scan for due deliveries, across tenants: small, for it holds unfinished deliveries alone.
CREATE INDEX event_due ON event (next_attempt_at) WHERE delivery_status = 'pending';
-- The staff's list of deliveries, newest first, whole and by status.
CREATE INDEX event_deliveries ON event (tenant_id, id) WHERE delivery_status IS NOT NULL;
CREATE INDEX event_deliveries_by_status ON event (tenant_id, delivery_status, id) WHERE delivery_status IS NOT NULL;
