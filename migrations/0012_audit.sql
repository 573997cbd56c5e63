-- Who did what to what the owner answers for. Only ever added to.
CREATE TABLE audit_entry (
  tenant_id  bigint NOT NULL REFERENCES tenant (id),
  id         uuid NOT NULL,
  at         timestamptz NOT NULL,
  actor_type text NOT NULL CHECK (actor_type IN ('user', 'credential', 'operator', 'anonymous')),
  actor_id   uuid,
  action     text NOT NULL,
  subject    text NOT NULL,
  details    json NOT NULL,
  PRIMARY KEY (tenant_id, id)
);
