-- A stay. It came through the third-party API (credential_id, external_reservation_id) or from an OTA (external_source,
-- external_id); each of the two keys is unique where it is set.
CREATE TABLE reservation (
  tenant_id               bigint NOT NULL,
  id                      uuid NOT NULL,
  natural_id              text COLLATE "C" NOT NULL,
  credential_id           uuid,
  external_reservation_id text COLLATE "C",
  external_source         text COLLATE "C",
  external_id             text COLLATE "C",
  status                  text NOT NULL CHECK (status IN
    ('pending', 'confirmed', 'cancelled', 'no_show', 'completed', 'expired')),
  room_type_id            uuid NOT NULL,
  rate_plan_id            uuid,
  check_in                date NOT NULL,
  check_out               date NOT NULL,
  guests                  integer NOT NULL CHECK (guests > 0),
  guest_name              text NOT NULL,
  guest_phone             text,
  guest_email             text,
  total_amount            numeric(14, 2) NOT NULL CHECK (total_amount >= 0),
  currency                text NOT NULL,
  created_at              timestamptz NOT NULL,
  -- Of the channel's calls that were applied: the latest timestamp, and every signature that came with it.
  channel_timestamp       bigint,
  channel_signatures      text[],
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, natural_id),
  UNIQUE (tenant_id, credential_id, external_reservation_id),
  UNIQUE (tenant_id, external_source, external_id),
  FOREIGN KEY (tenant_id, credential_id) REFERENCES credential (tenant_id, id),
  FOREIGN KEY (tenant_id, room_type_id) REFERENCES room_type (tenant_id, id),
  FOREIGN KEY (tenant_id, rate_plan_id) REFERENCES rate_plan (tenant_id, id),
  CHECK (check_out > check_in),
  CHECK ((credential_id IS NULL) = (external_reservation_id IS NULL)),
  CHECK ((external_source IS NULL) = (external_id IS NULL)),
  CHECK ((channel_timestamp IS NULL) = (channel_signatures IS NULL))
);

-- A credential's list and the staff's, newest first.
CREATE INDEX reservation_by_credential ON reservation (tenant_id, credential_id, id);
CREATE INDEX reservation_by_status ON reservation (tenant_id, status, id);
-- The PMS's list, newest check-in first, whole and by status.
CREATE INDEX reservation_by_check_in ON reservation (tenant_id, check_in, id);
CREATE INDEX reservation_by_status_check_in ON reservation (tenant_id, status, check_in, id);
