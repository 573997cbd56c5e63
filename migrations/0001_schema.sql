-- The data model of Roomservice. `tenant_id` leads every key and index, so that a cluster can place the rows of a tenant together.
-- The application makes the ids. They are UUIDv7, so their order is the order of creation, and a list by id is a list by time.
-- It is one long file, so that the whole model can be read at once.
-- docs/decisions/0007-migrations.md says how the schema changes.

-- platform

-- The pepper, from which the keys of the service are derived, wrapped by the master key. Global table of one row.
CREATE TABLE service_key (
  is_only     boolean PRIMARY KEY DEFAULT true,
  wrapped_key bytea NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT service_key_is_only CHECK (is_only)
);

-- Tenants that changed in the last minutes. Each process reads them a few times a second, and drops what it has cached of them. Global table.
CREATE TABLE recent_change (
  id             uuid PRIMARY KEY,
  tenant_id      bigint NOT NULL,
  changed_at     timestamptz NOT NULL DEFAULT now(),
  -- A process reads only the changes of transactions that were running at its last look, or began later.
  transaction_id xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX recent_change_by_time ON recent_change (changed_at);
CREATE INDEX recent_change_by_transaction ON recent_change (transaction_id);

-- access

-- A business with a restaurant, a hotel or both. Global table: its id is the tenant_id of all other tables.
CREATE TABLE tenant (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  slug       text COLLATE "C" NOT NULL,
  name       text NOT NULL,
  currency   text NOT NULL,
  timezone   text NOT NULL,
  features   text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT tenant_by_slug UNIQUE (slug),
  CONSTRAINT tenant_features CHECK (features <@ ARRAY['restaurant', 'hotel'])
);

-- A person who signs in: an owner, or a member of the staff.
CREATE TABLE app_user (
  tenant_id              bigint NOT NULL,
  id                     uuid NOT NULL,
  email                  text COLLATE "C" NOT NULL,
  -- Name for other people of the tenant. Null: the person is shown by e-mail address.
  name                   text,
  password_hash          text NOT NULL,
  -- Rises with every new password: tokens and sessions of another generation have ended.
  generation             integer NOT NULL DEFAULT 0,
  role                   text NOT NULL,
  -- Parts of the staff API that a member of the staff may use. Owners may use all parts.
  areas                  text[] NOT NULL DEFAULT ARRAY['orders', 'menu', 'hotel', 'deliveries'],
  is_active              boolean NOT NULL DEFAULT true,
  -- BCP 47 tag. Null: the person has chosen no language.
  language               text,
  created_at             timestamptz NOT NULL DEFAULT now(),
  -- Last call of the person, written at most once a minute.
  last_seen_at           timestamptz,
  -- Until then an invitation that is not accepted holds the e-mail address. Null: the person was not invited, or has accepted.
  invitation_expires_at  timestamptz,
  -- What the last tenant document said. A value that the next document repeats is not written again, so changes by other means stay.
  document_name          text,
  -- Null: the document did not name the person.
  document_role          text,
  document_areas         text[],
  document_password_hash text,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT app_user_by_email UNIQUE (tenant_id, email),
  CONSTRAINT app_user_of_tenant FOREIGN KEY (tenant_id) REFERENCES tenant (id),
  CONSTRAINT app_user_role CHECK (role IN ('owner', 'staff')),
  CONSTRAINT app_user_areas CHECK (areas <@ ARRAY['orders', 'menu', 'hotel', 'rates', 'deliveries'])
);

-- The person of each e-mail address in all tenants. Global table, so it has no foreign key.
CREATE TABLE sign_in (
  email      text COLLATE "C" PRIMARY KEY,
  tenant_id  bigint NOT NULL,
  user_id    uuid NOT NULL,
  -- Until then an invitation holds the address. Afterwards another invitation may take it. Null: the address belongs to an account.
  held_until timestamptz
);

-- Addresses from which a person has signed in lately. Each has sign-ins of its own, so that nobody else can use them up.
CREATE TABLE sign_in_address (
  tenant_id    bigint NOT NULL,
  user_id      uuid NOT NULL,
  -- Keyed hash of the person and the address, so the table tells nobody where people are.
  address_hash bytea NOT NULL,
  signed_in_at timestamptz NOT NULL,
  PRIMARY KEY (tenant_id, user_id, address_hash),
  CONSTRAINT sign_in_address_of_user FOREIGN KEY (tenant_id, user_id) REFERENCES app_user (tenant_id, id)
);

-- A screen in the kitchen or at the front desk. It signs in with a pairing code.
CREATE TABLE display (
  tenant_id  bigint NOT NULL,
  id         uuid NOT NULL,
  label      text NOT NULL,
  areas      text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  removed_at timestamptz,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT display_of_tenant FOREIGN KEY (tenant_id) REFERENCES tenant (id),
  CONSTRAINT display_areas CHECK (areas <@ ARRAY['orders', 'menu', 'hotel', 'rates', 'deliveries'])
);

-- The display of each pairing code in all tenants, because a code is too short to name its tenant. Global table.
CREATE TABLE pairing_code (
  code_hash  bytea PRIMARY KEY,
  tenant_id  bigint NOT NULL,
  display_id uuid NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX pairing_code_by_expiry ON pairing_code (expires_at);

-- A signed-in browser of a person or a display. It ends at the first of ended_at, expires_at, and idle_seconds after last_used_at.
CREATE TABLE session (
  tenant_id    bigint NOT NULL,
  id           uuid NOT NULL,
  -- Keyed hash of the value of the cookie.
  secret_hash  bytea NOT NULL,
  kind         text NOT NULL,
  person_id    uuid,
  display_id   uuid,
  -- Generation of the person at the sign-in.
  generation   integer,
  created_at   timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz NOT NULL DEFAULT now(),
  idle_seconds integer NOT NULL,
  -- Null: uses extend the session without a bound.
  expires_at   timestamptz,
  -- Client address and user agent of the sign-in, so that the person recognises the session.
  address      text NOT NULL,
  user_agent   text NOT NULL,
  ended_at     timestamptz,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT session_by_secret UNIQUE (tenant_id, secret_hash),
  CONSTRAINT session_of_person FOREIGN KEY (tenant_id, person_id) REFERENCES app_user (tenant_id, id),
  CONSTRAINT session_of_display FOREIGN KEY (tenant_id, display_id) REFERENCES display (tenant_id, id),
  CONSTRAINT session_kind CHECK (kind IN ('person', 'display')),
  CONSTRAINT session_bearer CHECK ((kind = 'person') = (person_id IS NOT NULL) AND (kind = 'person') = (generation IS NOT NULL)
    AND (kind = 'display') = (display_id IS NOT NULL))
-- A use changes no column that an index has, and each page has free space for the new version of the row (a HOT update).
) WITH (fillfactor = 80);
CREATE INDEX session_by_person ON session (tenant_id, person_id, id) WHERE person_id IS NOT NULL;
CREATE INDEX session_by_display ON session (tenant_id, display_id) WHERE display_id IS NOT NULL;

-- A link for one use: an invitation or the reset of a password, which an owner hands to a person, or the sign-in of the demo's owner.
CREATE TABLE one_time_link (
  tenant_id   bigint NOT NULL,
  id          uuid NOT NULL,
  -- Keyed hash of the token in the link.
  secret_hash bytea NOT NULL,
  kind        text NOT NULL,
  person_id   uuid NOT NULL,
  -- Generation of the person when the link was made. The link ends when it rises.
  generation  integer NOT NULL,
  created_at  timestamptz NOT NULL DEFAULT now(),
  expires_at  timestamptz NOT NULL,
  used_at     timestamptz,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT one_time_link_by_secret UNIQUE (tenant_id, secret_hash),
  CONSTRAINT one_time_link_of_person FOREIGN KEY (tenant_id, person_id) REFERENCES app_user (tenant_id, id),
  CONSTRAINT one_time_link_kind CHECK (kind IN ('invite', 'reset', 'welcome'))
);
CREATE INDEX one_time_link_by_person ON one_time_link (tenant_id, person_id);

-- Access of a partner to the third-party API, or of a PMS to the PMS API, and the webhook that is registered with it.
CREATE TABLE credential (
  tenant_id               bigint NOT NULL,
  id                      uuid NOT NULL,
  audience                text NOT NULL,
  label                   text NOT NULL,
  api_key                 text COLLATE "C" NOT NULL,
  secret_hash             bytea NOT NULL,
  -- Of the secret that a rotation has replaced. It works until the overlap ends.
  previous_secret_hash    bytea,
  previous_secret_ends_at timestamptz,
  is_active               boolean NOT NULL DEFAULT true,
  created_at              timestamptz NOT NULL DEFAULT now(),
  last_rotated_at         timestamptz,
  last_used_at            timestamptz,
  -- When last_used_at was written. All processes together write it at most twice a minute.
  last_use_written_at     timestamptz,
  webhook_url             text NOT NULL DEFAULT '',
  -- Encrypted. Null while no URL is registered.
  webhook_secret          bytea,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT credential_by_api_key UNIQUE (tenant_id, api_key),
  CONSTRAINT credential_of_tenant FOREIGN KEY (tenant_id) REFERENCES tenant (id),
  CONSTRAINT credential_audience CHECK (audience IN ('third_party', 'pms')),
  CONSTRAINT credential_webhook CHECK ((webhook_url = '') = (webhook_secret IS NULL))
);

-- The last 50 calls of each credential that were refused with a 4xx although their secret was right.
CREATE TABLE refused_call (
  tenant_id     bigint NOT NULL,
  credential_id uuid NOT NULL,
  id            uuid NOT NULL,
  at            timestamptz NOT NULL,
  method        text NOT NULL,
  -- Pattern of the route. The path itself may contain ids of the partner.
  path          text NOT NULL,
  status        smallint NOT NULL,
  code          text NOT NULL,
  message       text NOT NULL,
  request_id    text NOT NULL,
  PRIMARY KEY (tenant_id, credential_id, id),
  CONSTRAINT refused_call_of_credential FOREIGN KEY (tenant_id, credential_id) REFERENCES credential (tenant_id, id)
);

-- The audit trail: who changed what. Rows are only added.
CREATE TABLE audit_entry (
  tenant_id  bigint NOT NULL,
  id         uuid NOT NULL,
  at         timestamptz NOT NULL,
  actor_type text NOT NULL,
  actor_id   uuid,
  action     text NOT NULL,
  subject    text NOT NULL,
  details    json NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT audit_entry_of_tenant FOREIGN KEY (tenant_id) REFERENCES tenant (id),
  CONSTRAINT audit_entry_actor_type CHECK (actor_type IN ('user', 'display', 'credential', 'operator', 'anonymous'))
);
CREATE INDEX audit_entry_by_action ON audit_entry (tenant_id, action, id);
CREATE INDEX audit_entry_by_actor ON audit_entry (tenant_id, actor_id, id) WHERE actor_id IS NOT NULL;
CREATE INDEX audit_entry_by_subject ON audit_entry (tenant_id, subject, id);

-- webhooks

-- What happened, for one credential. A row never changes, except that it gets its number in the feed.
CREATE TABLE event (
  tenant_id     bigint NOT NULL,
  id            uuid NOT NULL,
  credential_id uuid NOT NULL,
  type          text NOT NULL,
  -- The exact bytes that each attempt sends and signs.
  body          text NOT NULL,
  -- Order or reservation that the event reports, as {type, id, external_id}.
  subject       json NOT NULL,
  created_at    timestamptz NOT NULL,
  -- Number in the feed of the credential. Null: the partner has not read the event yet.
  feed_position bigint,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT event_of_credential FOREIGN KEY (tenant_id, credential_id) REFERENCES credential (tenant_id, id)
);
CREATE INDEX event_in_feed ON event (tenant_id, credential_id, feed_position, id);
CREATE INDEX event_by_type ON event (tenant_id, type, id);

-- The delivery of an event to the webhook of its credential. It is a row of its own, because it changes at each attempt
-- (docs/decisions/0011-delivery-table.md).
CREATE TABLE delivery (
  tenant_id       bigint NOT NULL,
  -- Id of the event. No foreign key: one statement writes both rows, one removes both, and the check would cost a third of the write.
  id              uuid NOT NULL,
  credential_id   uuid NOT NULL,
  status          text NOT NULL,
  attempt_count   smallint NOT NULL DEFAULT 0,
  -- Attempts with their outcomes. If attempt_count is greater than their number, the last attempt has no recorded outcome.
  attempts        jsonb NOT NULL DEFAULT '[]',
  -- First bytes of the answers to failed attempts, by the number of the attempt, so that lists do not read them.
  answers         jsonb,
  next_attempt_at timestamptz NOT NULL DEFAULT now(),
  -- Until then no other worker claims the delivery. No index has the columns of a claim, so it adds no index entries (a HOT update).
  leased_until    timestamptz,
  lease_id        uuid,
  -- Time of the last claim, at which the last counted attempt began.
  claimed_at      timestamptz,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT delivery_status CHECK (status IN ('pending', 'delivered', 'failed', 'stopped')),
  CONSTRAINT delivery_attempt_count CHECK (attempt_count BETWEEN 0 AND 5)
-- Each page has free space for the new version of each of its rows, because a worker that is behind claims them all at once.
) WITH (fillfactor = 40, autovacuum_vacuum_scale_factor = 0.02);
-- Deduplication would join the entries of deliveries that are due at the same time, and keep dead ones until all of them are dead.
CREATE INDEX delivery_due ON delivery (tenant_id, credential_id, next_attempt_at) WITH (deduplicate_items = off) WHERE status = 'pending';
-- Due deliveries of all tenants, only for the poll. The second condition is always true, and only the poll repeats it, so that a claim does
-- not use this index and read the due deliveries of all other receivers.
CREATE INDEX delivery_due_at ON delivery (next_attempt_at) WITH (deduplicate_items = off)
  WHERE status = 'pending' AND next_attempt_at > '-infinity';
-- A delivery leaves this index when it succeeds, and no entry is added.
CREATE INDEX delivery_undelivered ON delivery (tenant_id, status, id) WHERE status <> 'delivered';
CREATE INDEX delivery_failed ON delivery (tenant_id, credential_id, id) WHERE status = 'failed';

-- Last number in the feed of each credential. Events get their numbers when they are first read, so a late commit comes after them.
CREATE TABLE event_feed (
  tenant_id     bigint NOT NULL,
  credential_id uuid NOT NULL,
  last_position bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, credential_id),
  CONSTRAINT event_feed_of_credential FOREIGN KEY (tenant_id, credential_id) REFERENCES credential (tenant_id, id)
);

-- The era of all feeds. A restore raises it, and cursors of another era are refused. Global table of one row.
CREATE TABLE feed_era (
  is_only boolean PRIMARY KEY DEFAULT true,
  era     bigint NOT NULL DEFAULT 0,
  CONSTRAINT feed_era_is_only CHECK (is_only),
  CONSTRAINT feed_era_era CHECK (era >= 0)
);
INSERT INTO feed_era DEFAULT VALUES;

-- restaurant

-- Kitchens, categories, sub-menus and menu sets of a menu: small, and read and written as a whole.
CREATE TABLE menu (
  tenant_id bigint NOT NULL PRIMARY KEY,
  version   bigint NOT NULL,
  sections  jsonb NOT NULL,
  CONSTRAINT menu_of_tenant FOREIGN KEY (tenant_id) REFERENCES tenant (id)
);

-- A dish with its variants and add-ons. It is never deleted, only made inactive.
CREATE TABLE dish (
  tenant_id            bigint NOT NULL,
  id                   uuid NOT NULL,
  sku                  text COLLATE "C" NOT NULL,
  position             integer NOT NULL,
  name                 text NOT NULL,
  description          text NOT NULL,
  dish_type            text,
  price                numeric(10, 2) NOT NULL,
  is_active            boolean NOT NULL,
  is_taxable           boolean NOT NULL,
  extra_tax_percentage numeric(5, 2) NOT NULL,
  image                text,
  category             text NOT NULL,
  sub_menu             text NOT NULL,
  kitchen              text NOT NULL,
  menu_set             text NOT NULL,
  price_variants       jsonb NOT NULL,
  addons               jsonb NOT NULL,
  ingredients          jsonb NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT dish_by_sku UNIQUE (tenant_id, sku),
  CONSTRAINT dish_of_menu FOREIGN KEY (tenant_id) REFERENCES menu (tenant_id),
  CONSTRAINT dish_price CHECK (price >= 0),
  CONSTRAINT dish_extra_tax_percentage CHECK (extra_tax_percentage >= 0)
);

-- When the restaurant takes orders. Without a row, it is always open.
CREATE TABLE opening (
  tenant_id    bigint NOT NULL PRIMARY KEY,
  -- List of {weekday, opens, closes} in the time zone of the tenant. Empty: always open.
  hours        jsonb NOT NULL DEFAULT '[]',
  -- True from the begin of a pause until a person ends it, also after paused_until.
  is_paused    boolean NOT NULL DEFAULT false,
  -- Null: the end is open.
  paused_until timestamptz,
  -- Partners never see it.
  pause_reason text,
  CONSTRAINT opening_of_tenant FOREIGN KEY (tenant_id) REFERENCES tenant (id)
);

-- An order of a partner, written once with its priced lines. After that only its status changes.
CREATE TABLE restaurant_order (
  tenant_id            bigint NOT NULL,
  id                   uuid NOT NULL,
  credential_id        uuid NOT NULL,
  external_order_id    text COLLATE "C" NOT NULL,
  status               text NOT NULL,
  status_changed_at    timestamptz NOT NULL,
  order_type           text NOT NULL,
  customer_name        text,
  customer_phone       text,
  -- The forms of name and phone that a search compares (src/platform/db/search-text.ts).
  customer_search_name text COLLATE "C",
  customer_digits      text COLLATE "C",
  delivery_address     text,
  notes                text,
  -- Written and read whole, never searched: kept as the text it was.
  lines                json NOT NULL,
  total                numeric(10, 2) NOT NULL,
  currency             text NOT NULL,
  created_at           timestamptz NOT NULL,
  -- When staff expect the order to be ready.
  ready_by             timestamptz,
  -- Partners never see it.
  cancel_reason        text,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT restaurant_order_once UNIQUE (tenant_id, credential_id, external_order_id),
  CONSTRAINT restaurant_order_of_credential FOREIGN KEY (tenant_id, credential_id) REFERENCES credential (tenant_id, id),
  CONSTRAINT restaurant_order_status CHECK (status IN
    ('pending', 'confirmed', 'preparing', 'ready', 'out_for_delivery', 'completed', 'cancelled')),
  CONSTRAINT restaurant_order_order_type CHECK (order_type IN ('delivery', 'take_away', 'pick_up')),
  CONSTRAINT restaurant_order_total CHECK (total >= 0)
);
CREATE INDEX restaurant_order_by_credential ON restaurant_order (tenant_id, credential_id, id);
-- The kitchen reads its unfinished orders every few seconds.
CREATE INDEX restaurant_order_open ON restaurant_order (tenant_id, id) WHERE status NOT IN ('completed', 'cancelled');
CREATE INDEX restaurant_order_by_name ON restaurant_order (tenant_id, customer_search_name, id) WHERE customer_search_name IS NOT NULL;
CREATE INDEX restaurant_order_by_phone ON restaurant_order (tenant_id, customer_digits, id) WHERE customer_digits IS NOT NULL;
-- The report by day adds up these columns, and so does not read the long rows of the orders.
CREATE INDEX restaurant_order_for_report ON restaurant_order (tenant_id, id) INCLUDE (credential_id, total, currency)
  WHERE status <> 'cancelled';

-- Changes of the status of an order. The first status, pending, has no row here.
CREATE TABLE order_status_change (
  tenant_id     bigint NOT NULL,
  order_id      uuid NOT NULL,
  id            uuid NOT NULL,
  status_before text NOT NULL,
  status        text NOT NULL,
  changed_at    timestamptz NOT NULL,
  actor_type    text NOT NULL,
  -- Null: the operator or the sandbox.
  actor_id      uuid,
  -- Id that the caller sent with the change. The same id again changes nothing.
  request_id    uuid,
  PRIMARY KEY (tenant_id, order_id, id),
  CONSTRAINT order_status_change_of_order FOREIGN KEY (tenant_id, order_id) REFERENCES restaurant_order (tenant_id, id)
    ON DELETE CASCADE,
  CONSTRAINT order_status_change_actor_type CHECK (actor_type IN ('person', 'display', 'partner', 'channel', 'operator', 'sandbox'))
);

-- hotel

-- A hotel, with the time zone of its dates.
CREATE TABLE property (
  tenant_id      bigint NOT NULL,
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
  CONSTRAINT property_by_name UNIQUE (tenant_id, name),
  CONSTRAINT property_of_tenant FOREIGN KEY (tenant_id) REFERENCES tenant (id)
);

-- A kind of room. Stays book a number of them, and the front desk chooses the room.
CREATE TABLE room_type (
  tenant_id         bigint NOT NULL,
  id                uuid NOT NULL,
  property_id       uuid NOT NULL,
  position          integer NOT NULL,
  name              text NOT NULL,
  description       text NOT NULL,
  max_occupancy     integer NOT NULL,
  base_price        numeric(10, 2),
  physical_capacity integer NOT NULL,
  amenities         jsonb NOT NULL,
  images            jsonb NOT NULL,
  is_active         boolean NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT room_type_by_name UNIQUE (tenant_id, property_id, name),
  CONSTRAINT room_type_of_property FOREIGN KEY (tenant_id, property_id) REFERENCES property (tenant_id, id),
  CONSTRAINT room_type_max_occupancy CHECK (max_occupancy > 0),
  CONSTRAINT room_type_base_price CHECK (base_price >= 0),
  CONSTRAINT room_type_physical_capacity CHECK (physical_capacity >= 0)
);

-- A rate plan: terms under which a room type is sold.
CREATE TABLE rate_plan (
  tenant_id     bigint NOT NULL,
  id            uuid NOT NULL,
  room_type_id  uuid NOT NULL,
  position      integer NOT NULL,
  name          text NOT NULL,
  base_price    numeric(10, 2) NOT NULL,
  is_refundable boolean NOT NULL,
  min_nights    integer NOT NULL,
  is_active     boolean NOT NULL,
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT rate_plan_by_name UNIQUE (tenant_id, room_type_id, name),
  CONSTRAINT rate_plan_of_room_type FOREIGN KEY (tenant_id, room_type_id) REFERENCES room_type (tenant_id, id),
  CONSTRAINT rate_plan_base_price CHECK (base_price >= 0),
  CONSTRAINT rate_plan_min_nights CHECK (min_nights > 0)
);

-- What differs from the rate plan on one night.
CREATE TABLE rate (
  tenant_id    bigint NOT NULL,
  rate_plan_id uuid NOT NULL,
  date         date NOT NULL,
  -- Null: the base price of the plan, also when that changes later.
  price        numeric(10, 2),
  is_sold_out  boolean NOT NULL,
  PRIMARY KEY (tenant_id, rate_plan_id, date),
  CONSTRAINT rate_of_rate_plan FOREIGN KEY (tenant_id, rate_plan_id) REFERENCES rate_plan (tenant_id, id),
  CONSTRAINT rate_price CHECK (price >= 0)
);

-- Number of rooms of a type that are held on a night, and 0 without a row. There is no CHECK (held >= 0), because PostgreSQL would check
-- the -1 of a release before it finds the row to add it to. The one function that writes this table checks the result.
CREATE TABLE night (
  tenant_id    bigint NOT NULL,
  room_type_id uuid NOT NULL,
  date         date NOT NULL,
  held         integer NOT NULL,
  PRIMARY KEY (tenant_id, room_type_id, date),
  CONSTRAINT night_of_room_type FOREIGN KEY (tenant_id, room_type_id) REFERENCES room_type (tenant_id, id)
);

-- A booking site that sends its bookings. Its secret is encrypted and not hashed, because the service checks signatures with it.
CREATE TABLE channel (
  tenant_id      bigint NOT NULL,
  id             uuid NOT NULL,
  source         text NOT NULL,
  channel_key    text COLLATE "C" NOT NULL,
  channel_secret bytea NOT NULL,
  is_active      boolean NOT NULL DEFAULT true,
  created_at     timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT channel_by_key UNIQUE (tenant_id, channel_key),
  CONSTRAINT channel_of_tenant FOREIGN KEY (tenant_id) REFERENCES tenant (id)
);

-- A stay, booked by a partner (credential_id, external_reservation_id), an OTA (external_source, external_id) or the hotel itself (neither).
CREATE TABLE reservation (
  tenant_id               bigint NOT NULL,
  id                      uuid NOT NULL,
  natural_id              text COLLATE "C" NOT NULL,
  credential_id           uuid,
  external_reservation_id text COLLATE "C",
  external_source         text COLLATE "C",
  external_id             text COLLATE "C",
  status                  text NOT NULL,
  -- Id that staff sent with the last change of the status. The same id again changes nothing.
  status_request_id       uuid,
  room_type_id            uuid NOT NULL,
  rate_plan_id            uuid,
  check_in                date NOT NULL,
  check_out               date NOT NULL,
  guests                  integer NOT NULL,
  guest_name              text NOT NULL,
  guest_phone             text,
  guest_email             text,
  -- The forms of the guest's data that a search compares (src/platform/db/search-text.ts).
  guest_search_name       text COLLATE "C" NOT NULL,
  guest_digits            text COLLATE "C",
  guest_search_email      text COLLATE "C",
  total_amount            numeric(14, 2) NOT NULL,
  -- Prices of the nights, in their order. Null: unknown.
  nightly_prices          text[],
  currency                text NOT NULL,
  created_at              timestamptz NOT NULL,
  -- Time of the last change that people see.
  changed_at              timestamptz NOT NULL,
  -- Null: the guests have not arrived.
  arrived_at              timestamptz,
  -- Of the applied calls of the channel: the latest timestamp, and every signature that came with it.
  channel_timestamp       bigint,
  channel_signatures      text[],
  PRIMARY KEY (tenant_id, id),
  CONSTRAINT reservation_by_natural_id UNIQUE (tenant_id, natural_id),
  CONSTRAINT reservation_of_partner_once UNIQUE (tenant_id, credential_id, external_reservation_id),
  CONSTRAINT reservation_of_ota_once UNIQUE (tenant_id, external_source, external_id),
  CONSTRAINT reservation_of_credential FOREIGN KEY (tenant_id, credential_id) REFERENCES credential (tenant_id, id),
  CONSTRAINT reservation_of_room_type FOREIGN KEY (tenant_id, room_type_id) REFERENCES room_type (tenant_id, id),
  CONSTRAINT reservation_of_rate_plan FOREIGN KEY (tenant_id, rate_plan_id) REFERENCES rate_plan (tenant_id, id),
  CONSTRAINT reservation_status CHECK (status IN ('pending', 'confirmed', 'cancelled', 'no_show', 'completed', 'expired')),
  CONSTRAINT reservation_dates CHECK (check_out > check_in),
  CONSTRAINT reservation_guests CHECK (guests > 0),
  CONSTRAINT reservation_total_amount CHECK (total_amount >= 0),
  CONSTRAINT reservation_partner CHECK ((credential_id IS NULL) = (external_reservation_id IS NULL)),
  CONSTRAINT reservation_ota CHECK ((external_source IS NULL) = (external_id IS NULL)),
  CONSTRAINT reservation_channel CHECK ((channel_timestamp IS NULL) = (channel_signatures IS NULL))
);
CREATE INDEX reservation_by_credential ON reservation (tenant_id, credential_id, id);
CREATE INDEX reservation_by_status ON reservation (tenant_id, status, id);
CREATE INDEX reservation_by_check_in ON reservation (tenant_id, check_in, id);
CREATE INDEX reservation_by_status_check_in ON reservation (tenant_id, status, check_in, id);
CREATE INDEX reservation_by_change ON reservation (tenant_id, changed_at, id);
CREATE INDEX reservation_of_house ON reservation (tenant_id, id) WHERE credential_id IS NULL AND external_source IS NULL;
CREATE INDEX reservation_by_guest_name ON reservation (tenant_id, guest_search_name, id);
CREATE INDEX reservation_by_guest_phone ON reservation (tenant_id, guest_digits, id) WHERE guest_digits IS NOT NULL;
CREATE INDEX reservation_by_guest_email ON reservation (tenant_id, guest_search_email, id) WHERE guest_search_email IS NOT NULL;
CREATE INDEX reservation_by_external_id ON reservation (tenant_id, external_id) WHERE external_id IS NOT NULL;
-- The few stays of more than 31 nights. All other guests of a day have arrived in the 31 days before it.
CREATE INDEX reservation_of_many_nights ON reservation (tenant_id, check_out) WHERE check_out - check_in > 31;
-- Tells the planner that the sources of stays differ from tenant to tenant.
CREATE STATISTICS reservation_sources (mcv) ON tenant_id, credential_id, external_source FROM reservation;

-- Changes of the status or the nights of a stay, and the bookings of the hotel itself, because they name the person. Rows are only added.
CREATE TABLE reservation_change (
  tenant_id             bigint NOT NULL,
  id                    uuid NOT NULL,
  reservation_id        uuid NOT NULL,
  at                    timestamptz NOT NULL,
  actor_type            text NOT NULL,
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
  CONSTRAINT reservation_change_booking_once UNIQUE (tenant_id, booking_request_id),
  CONSTRAINT reservation_change_of_reservation FOREIGN KEY (tenant_id, reservation_id) REFERENCES reservation (tenant_id, id),
  CONSTRAINT reservation_change_actor_type CHECK (actor_type IN ('person', 'display', 'partner', 'channel', 'operator', 'sandbox'))
);
CREATE INDEX reservation_change_by_reservation ON reservation_change (tenant_id, reservation_id, at);
-- Nights that a change has taken from a stay.
CREATE INDEX reservation_change_from_night ON reservation_change (tenant_id, previous_room_type_id, previous_check_in)
  WHERE previous_room_type_id IS NOT NULL;
