-- Last calls of each credential that the service refused with a 4xx although their secret was right. Processes write them in batches, and keep
-- at most 50 for each credential.
CREATE TABLE refused_call (
  tenant_id     bigint NOT NULL,
  credential_id uuid NOT NULL,
  -- UUIDv7, so the ids of a credential sort by the time of the calls.
  id            uuid NOT NULL,
  at            timestamptz NOT NULL,
  method        text NOT NULL,
  -- Pattern of the route. The path itself may contain ids of the partner.
  path          text NOT NULL,
  status        smallint NOT NULL,
  code          text NOT NULL,
  message       text NOT NULL,
  request_id    text NOT NULL,
  PRIMARY KEY (tenant_id, credential_id, id),
  FOREIGN KEY (tenant_id, credential_id) REFERENCES credential (tenant_id, id)
);
