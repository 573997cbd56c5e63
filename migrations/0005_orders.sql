-- An order as it was placed: written once with its priced lines, then only its status moves.
CREATE TABLE restaurant_order (
  tenant_id         bigint NOT NULL,
  id                uuid NOT NULL,
  credential_id     uuid NOT NULL,
  external_order_id text COLLATE "C" NOT NULL,
  status            text NOT NULL CHECK (status IN
    ('pending', 'confirmed', 'preparing', 'ready', 'out_for_delivery', 'completed', 'cancelled')),
  order_type        text NOT NULL CHECK (order_type IN ('delivery', 'take_away', 'pick_up')),
  customer_name     text,
  customer_phone    text,
  delivery_address  text,
  notes             text,
  -- Written and read whole, never searched: kept as the text it was, in its order.
  lines             json NOT NULL,
  total             numeric(10, 2) NOT NULL CHECK (total >= 0),
  currency          text NOT NULL,
  created_at        timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, credential_id, external_order_id),
  FOREIGN KEY (tenant_id, credential_id) REFERENCES credential (tenant_id, id)
);

-- A credential's list, newest first: ids are UUIDv7, so their order is the order of creation.
CREATE INDEX restaurant_order_by_credential ON restaurant_order (tenant_id, credential_id, id);
-- The kitchen's list of one status, asked for every few seconds.
CREATE INDEX restaurant_order_by_status ON restaurant_order (tenant_id, status, id);
