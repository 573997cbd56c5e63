-- A credential of the third-party or the PMS API, and the webhook registered with it.
CREATE TABLE credential (
  tenant_id       bigint NOT NULL REFERENCES tenant (id),
  id              uuid NOT NULL,
  audience        text NOT NULL CHECK (audience IN ('third_party', 'pms')),
  label           text NOT NULL,
  api_key         text COLLATE "C" NOT NULL,
  secret_hash     bytea NOT NULL,
  is_active       boolean NOT NULL DEFAULT true,
  created_at      timestamptz NOT NULL DEFAULT now(),
  last_used_at    timestamptz,
  last_rotated_at timestamptz,
  webhook_url     text NOT NULL DEFAULT '',
  -- AES-256-GCM, the version of its key inside; null while no URL is registered.
  webhook_secret  bytea,
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, api_key),
  CHECK ((webhook_url = '') = (webhook_secret IS NULL))
);
