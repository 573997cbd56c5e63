-- Prices of the nights of the stay, in the order of the nights. Null: the prices are unknown, or a version before this migration booked
-- the stay.
ALTER TABLE reservation ADD COLUMN nightly_prices text[];
-- Time of the last change. Null: the stay has not changed since this migration, and an earlier version booked it.
ALTER TABLE reservation ADD COLUMN changed_at timestamptz;
-- Time at which staff said that the guests have arrived. Null: they have not.
ALTER TABLE reservation ADD COLUMN arrived_at timestamptz;
-- True if all changes of the stay since its booking are in reservation_change. The previous version inserts no value.
ALTER TABLE reservation ADD COLUMN has_history boolean NOT NULL DEFAULT false;

-- Tells the planner that the sources of stays differ from tenant to tenant.
CREATE STATISTICS reservation_sources (mcv) ON tenant_id, credential_id, external_source FROM reservation;

-- Changes of the status or the nights of a stay. Rows are only added. The booking of a partner or an OTA has no row, because the row of the
-- stay shows it. The booking of the hotel itself has one, because it names the person.
CREATE TABLE reservation_change (
  tenant_id             bigint NOT NULL,
  id                    uuid NOT NULL,
  reservation_id        uuid NOT NULL,
  at                    timestamptz NOT NULL,
  actor_type            text NOT NULL CHECK (actor_type IN ('person', 'display', 'partner', 'channel', 'operator', 'sandbox')),
  actor_id              uuid,
  -- Null: the change is the booking.
  previous_status       text,
  status                text NOT NULL,
  -- Nights before the change. All three are null if the change kept the nights and the room type.
  previous_room_type_id uuid,
  previous_check_in     date,
  previous_check_out    date,
  room_type_id          uuid NOT NULL,
  check_in              date NOT NULL,
  check_out             date NOT NULL,
  reason                text,
  -- Id that staff sent with a booking of the hotel. The same id again books nothing.
  booking_request_id    uuid,
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, booking_request_id),
  FOREIGN KEY (tenant_id, reservation_id) REFERENCES reservation (tenant_id, id)
);

CREATE INDEX reservation_change_by_reservation ON reservation_change (tenant_id, reservation_id, at);
-- Stays that a change has taken away from a night.
CREATE INDEX reservation_change_from_night ON reservation_change (tenant_id, previous_room_type_id, previous_check_in)
  WHERE previous_room_type_id IS NOT NULL;
