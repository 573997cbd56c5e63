-- The service's own keys (pepper, token signing, encryption), each wrapped by MASTER_KEY. Global table.
CREATE TABLE service_key (
  purpose     text NOT NULL CHECK (purpose IN ('pepper', 'token', 'encryption')),
  version     integer NOT NULL CHECK (version > 0),
  wrapped_key bytea NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (purpose, version)
);
