-- Terms a room type is sold under.
CREATE TABLE rate_plan (
  tenant_id     bigint NOT NULL,
  id            uuid NOT NULL,
  room_type_id  uuid NOT NULL,
  position      integer NOT NULL,
  name          text NOT NULL,
  base_price    numeric(10, 2) NOT NULL CHECK (base_price >= 0),
  is_refundable boolean NOT NULL,
  min_nights    integer NOT NULL CHECK (min_nights > 0),
  is_active     boolean NOT NULL,
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, room_type_id, name),
  FOREIGN KEY (tenant_id, room_type_id) REFERENCES room_type (tenant_id, id)
);

-- What differs from the plan on one night. A null price: the plan's base price, also when that changes later.
CREATE TABLE rate (
  tenant_id    bigint NOT NULL,
  rate_plan_id uuid NOT NULL,
  date         date NOT NULL,
  price        numeric(10, 2) CHECK (price >= 0),
  is_sold_out  boolean NOT NULL,
  PRIMARY KEY (tenant_id, rate_plan_id, date),
  FOREIGN KEY (tenant_id, rate_plan_id) REFERENCES rate_plan (tenant_id, id)
);
