-- Where OTA bookings come from. The secret is encrypted, not hashed: it has to check signatures.
CREATE TABLE channel (
  tenant_id      bigint NOT NULL REFERENCES tenant (id),
  id             uuid NOT NULL,
  source         text NOT NULL,
  channel_key    text COLLATE "C" NOT NULL,
  channel_secret bytea NOT NULL,
  is_active      boolean NOT NULL DEFAULT true,
  created_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, channel_key)
);
