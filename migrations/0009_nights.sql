-- Rooms of a type that are taken on a night; no row: none. That it never falls below zero is checked by its one writer: a
-- constraint would refuse the -1 of a room given back before the row it is added to is looked for.
CREATE TABLE night (
  tenant_id    bigint NOT NULL,
  room_type_id uuid NOT NULL,
  date         date NOT NULL,
  held         integer NOT NULL,
  PRIMARY KEY (tenant_id, room_type_id, date),
  FOREIGN KEY (tenant_id, room_type_id) REFERENCES room_type (tenant_id, id)
);
