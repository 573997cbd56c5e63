-- Where a user has signed in from lately: such an address has tries of its own, whatever others do with the e-mail. Kept as a keyed
-- hash of the user and the address, so that the table tells nobody where people are.
CREATE TABLE sign_in_address (
  tenant_id    bigint NOT NULL,
  user_id      uuid NOT NULL,
  address_hash bytea NOT NULL,
  signed_in_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, user_id, address_hash),
  FOREIGN KEY (tenant_id, user_id) REFERENCES app_user (tenant_id, id)
);
