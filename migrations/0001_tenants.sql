-- A tenant: one restaurant, hotel or both. Global table: its id is the distribution key of every other table.
CREATE TABLE tenant (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  slug       text COLLATE "C" NOT NULL UNIQUE,
  name       text NOT NULL,
  currency   text NOT NULL,
  timezone   text NOT NULL,
  features   text[] NOT NULL CHECK (features <@ ARRAY['restaurant', 'hotel']),
  created_at timestamptz NOT NULL DEFAULT now()
);

-- A person who signs in: the owner or a member of the staff.
CREATE TABLE app_user (
  tenant_id     bigint NOT NULL REFERENCES tenant (id),
  id            uuid NOT NULL,
  email         text COLLATE "C" NOT NULL,
  password_hash text NOT NULL,
  role          text NOT NULL CHECK (role IN ('owner', 'staff')),
  is_active     boolean NOT NULL DEFAULT true,
  created_at    timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, email)
);

-- The sign-in directory: e-mail → user, across all tenants. Global table, so without a foreign key to the sharded one.
CREATE TABLE sign_in (
  email     text COLLATE "C" PRIMARY KEY,
  tenant_id bigint NOT NULL,
  user_id   uuid NOT NULL
);
