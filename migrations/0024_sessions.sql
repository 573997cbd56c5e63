-- Language of the person for the pages and mails of the service, as a BCP 47 tag. Null: the person has chosen no language.
ALTER TABLE app_user ADD COLUMN language text;
-- Time of the last call of the person, with a session or a token. It is written at most once a minute. Null: the person has made no call since
-- this column was added.
ALTER TABLE app_user ADD COLUMN last_seen_at timestamptz;
-- Time until which an invitation holds the e-mail address of a person who has not accepted it. Null: the person was not invited, or has accepted.
-- Until then the person has a password hash that fits no password.
ALTER TABLE app_user ADD COLUMN invitation_expires_at timestamptz;
-- Name and areas in the last tenant document. A value that the next document repeats is not written again, so that a change by other means
-- stays. Null: the document has no value. The areas of such staff are then the default areas.
ALTER TABLE app_user ADD COLUMN document_name text, ADD COLUMN document_areas text[];

-- Screen in the kitchen or at the front desk. It signs in with a pairing code, and has a label and areas instead of a person.
CREATE TABLE display (
  tenant_id  bigint NOT NULL REFERENCES tenant (id),
  id         uuid NOT NULL,
  label      text NOT NULL,
  areas      text[] NOT NULL CHECK (areas <@ ARRAY['orders', 'menu', 'hotel', 'rates', 'deliveries']),
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Null: the display may be used.
  removed_at timestamptz,
  PRIMARY KEY (tenant_id, id)
);

-- Session of a person or a display in a browser. It ends at the first of ended_at, expires_at, and idle_seconds after last_used_at. The last
-- use of a display is the last use of its session.
CREATE TABLE session (
  tenant_id    bigint NOT NULL,
  id           uuid NOT NULL,
  -- Keyed hash of the value of the cookie.
  secret_hash  bytea NOT NULL,
  kind         text NOT NULL CHECK (kind IN ('person', 'display')),
  person_id    uuid,
  display_id   uuid,
  -- Generation of the person at the sign-in. The session ends when the generation rises, for example with a new password. Null for a display.
  generation   integer,
  created_at   timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz NOT NULL DEFAULT now(),
  -- Number of seconds without a use after which the session ends.
  idle_seconds integer NOT NULL,
  -- Null: uses extend the session without a bound.
  expires_at   timestamptz,
  -- Client address and user agent of the sign-in, so that the person recognises the session.
  address      text NOT NULL,
  user_agent   text NOT NULL,
  ended_at     timestamptz,
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, secret_hash),
  FOREIGN KEY (tenant_id, person_id) REFERENCES app_user (tenant_id, id),
  FOREIGN KEY (tenant_id, display_id) REFERENCES display (tenant_id, id),
  CHECK ((kind = 'person') = (person_id IS NOT NULL) AND (kind = 'person') = (generation IS NOT NULL)
    AND (kind = 'display') = (display_id IS NOT NULL))
) WITH (fillfactor = 80);

-- The sessions of a person, and of a display. No index has the columns that a use changes, and the free space of the page takes the new version
-- of the row (a HOT update).
CREATE INDEX session_by_person ON session (tenant_id, person_id, id) WHERE person_id IS NOT NULL;
CREATE INDEX session_by_display ON session (tenant_id, display_id) WHERE display_id IS NOT NULL;

-- Link for one use that an owner hands to a person: an invitation, or the reset of a password.
CREATE TABLE one_time_link (
  tenant_id   bigint NOT NULL,
  id          uuid NOT NULL,
  -- Keyed hash of the token in the link.
  secret_hash bytea NOT NULL,
  kind        text NOT NULL CHECK (kind IN ('invite', 'reset')),
  person_id   uuid NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now(),
  expires_at  timestamptz NOT NULL,
  -- Null: the link was not used.
  used_at     timestamptz,
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, secret_hash),
  FOREIGN KEY (tenant_id, person_id) REFERENCES app_user (tenant_id, id)
);
CREATE INDEX one_time_link_by_person ON one_time_link (tenant_id, person_id);

-- Directory of the pairing codes of displays: keyed hash of the code, with the display. Global table, because a code is too short to name its
-- tenant. So it has no foreign key to the sharded tables, as the sign-in directory.
CREATE TABLE pairing_code (
  code_hash  bytea PRIMARY KEY,
  tenant_id  bigint NOT NULL,
  display_id uuid NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX pairing_code_by_expiry ON pairing_code (expires_at);

-- A display may be the actor of an entry. Every stored row satisfies the new condition, so it is not checked again (NOT VALID), and writers wait
-- only for a moment. These are two statements, because a cluster refuses ADD CONSTRAINT beside another change.
ALTER TABLE audit_entry DROP CONSTRAINT audit_entry_actor_type_check;
ALTER TABLE audit_entry ADD CONSTRAINT audit_entry_actor_type_check
  CHECK (actor_type IN ('user', 'display', 'credential', 'operator', 'anonymous')) NOT VALID;
