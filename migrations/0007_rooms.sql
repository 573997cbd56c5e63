-- A hotel, with the clock its dates are read by.
CREATE TABLE property (
  tenant_id      bigint NOT NULL REFERENCES tenant (id),
  id             uuid NOT NULL,
  position       integer NOT NULL,
  name           text NOT NULL,
  address        text NOT NULL,
  city           text NOT NULL,
  country_code   text NOT NULL,
  timezone       text NOT NULL,
  check_in_time  text NOT NULL,
  check_out_time text NOT NULL,
  is_active      boolean NOT NULL,
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, name)
);

-- A kind of room, sold by number: which room a guest gets is the front desk's matter.
CREATE TABLE room_type (
  tenant_id         bigint NOT NULL,
  id                uuid NOT NULL,
  property_id       uuid NOT NULL,
  position          integer NOT NULL,
  name              text NOT NULL,
  description       text NOT NULL,
  max_occupancy     integer NOT NULL CHECK (max_occupancy > 0),
  base_price        numeric(10, 2) CHECK (base_price >= 0),
  physical_capacity integer NOT NULL CHECK (physical_capacity >= 0),
  amenities         jsonb NOT NULL,
  images            jsonb NOT NULL,
  is_active         boolean NOT NULL,
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, property_id, name),
  FOREIGN KEY (tenant_id, property_id) REFERENCES property (tenant_id, id)
);
