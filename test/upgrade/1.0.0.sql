-- Made by test/upgrade/dump.ts. It is one file, because pg_dump writes schema and data of a release as one script.
--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: app_user; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.app_user (
    tenant_id bigint NOT NULL,
    id uuid NOT NULL,
    email text NOT NULL COLLATE pg_catalog."C",
    password_hash text NOT NULL,
    role text NOT NULL,
    is_active boolean DEFAULT true NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    generation integer DEFAULT 0 NOT NULL,
    is_in_document boolean DEFAULT true NOT NULL,
    document_role text,
    document_password_hash text,
    CONSTRAINT app_user_role_check CHECK ((role = ANY (ARRAY['owner'::text, 'staff'::text])))
);


--
-- Name: audit_entry; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.audit_entry (
    tenant_id bigint NOT NULL,
    id uuid NOT NULL,
    at timestamp with time zone NOT NULL,
    actor_type text NOT NULL,
    actor_id uuid,
    action text NOT NULL,
    subject text NOT NULL,
    details json NOT NULL,
    CONSTRAINT audit_entry_actor_type_check CHECK ((actor_type = ANY (ARRAY['user'::text, 'credential'::text, 'operator'::text, 'anonymous'::text])))
);


--
-- Name: channel; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.channel (
    tenant_id bigint NOT NULL,
    id uuid NOT NULL,
    source text NOT NULL,
    channel_key text NOT NULL COLLATE pg_catalog."C",
    channel_secret bytea NOT NULL,
    is_active boolean DEFAULT true NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: credential; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.credential (
    tenant_id bigint NOT NULL,
    id uuid NOT NULL,
    audience text NOT NULL,
    label text NOT NULL,
    api_key text NOT NULL COLLATE pg_catalog."C",
    secret_hash bytea NOT NULL,
    is_active boolean DEFAULT true NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    last_used_at timestamp with time zone,
    last_rotated_at timestamp with time zone,
    webhook_url text DEFAULT ''::text NOT NULL,
    webhook_secret bytea,
    CONSTRAINT credential_audience_check CHECK ((audience = ANY (ARRAY['third_party'::text, 'pms'::text]))),
    CONSTRAINT credential_check CHECK (((webhook_url = ''::text) = (webhook_secret IS NULL)))
);


--
-- Name: dish; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.dish (
    tenant_id bigint NOT NULL,
    id uuid NOT NULL,
    sku text NOT NULL COLLATE pg_catalog."C",
    "position" integer NOT NULL,
    name text NOT NULL,
    description text NOT NULL,
    dish_type text,
    price numeric(10,2) NOT NULL,
    is_active boolean NOT NULL,
    is_taxable boolean NOT NULL,
    extra_tax_percentage numeric(5,2) NOT NULL,
    image text,
    category text NOT NULL,
    sub_menu text NOT NULL,
    kitchen text NOT NULL,
    menu_set text NOT NULL,
    price_variants jsonb NOT NULL,
    addons jsonb NOT NULL,
    ingredients jsonb NOT NULL,
    CONSTRAINT dish_extra_tax_percentage_check CHECK ((extra_tax_percentage >= (0)::numeric)),
    CONSTRAINT dish_price_check CHECK ((price >= (0)::numeric))
);


--
-- Name: event; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.event (
    tenant_id bigint NOT NULL,
    id uuid NOT NULL,
    credential_id uuid NOT NULL,
    type text NOT NULL,
    body text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    delivery_status text,
    attempt_count smallint DEFAULT 0 NOT NULL,
    attempts jsonb DEFAULT '[]'::jsonb NOT NULL,
    next_attempt_at timestamp with time zone DEFAULT now() NOT NULL,
    lease_id uuid,
    feed_position bigint,
    CONSTRAINT event_attempt_count_check CHECK (((attempt_count >= 0) AND (attempt_count <= 5))),
    CONSTRAINT event_delivery_status_check CHECK ((delivery_status = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text, 'stopped'::text])))
)
WITH (autovacuum_vacuum_scale_factor='0.02');


--
-- Name: event_feed; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.event_feed (
    tenant_id bigint NOT NULL,
    credential_id uuid NOT NULL,
    last_position bigint DEFAULT 0 NOT NULL
);


--
-- Name: feed_era; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.feed_era (
    is_only boolean DEFAULT true NOT NULL,
    era bigint DEFAULT 0 NOT NULL,
    CONSTRAINT feed_era_era_check CHECK ((era >= 0)),
    CONSTRAINT feed_era_is_only_check CHECK (is_only)
);


--
-- Name: kysely_migration; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.kysely_migration (
    name character varying(255) NOT NULL,
    "timestamp" character varying(255) NOT NULL
);


--
-- Name: kysely_migration_lock; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.kysely_migration_lock (
    id character varying(255) NOT NULL,
    is_locked integer DEFAULT 0 NOT NULL
);


--
-- Name: menu; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.menu (
    tenant_id bigint NOT NULL,
    version bigint NOT NULL,
    sections jsonb NOT NULL
);


--
-- Name: night; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.night (
    tenant_id bigint NOT NULL,
    room_type_id uuid NOT NULL,
    date date NOT NULL,
    held integer NOT NULL
);


--
-- Name: property; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.property (
    tenant_id bigint NOT NULL,
    id uuid NOT NULL,
    "position" integer NOT NULL,
    name text NOT NULL,
    address text NOT NULL,
    city text NOT NULL,
    country_code text NOT NULL,
    timezone text NOT NULL,
    check_in_time text NOT NULL,
    check_out_time text NOT NULL,
    is_active boolean NOT NULL
);


--
-- Name: rate; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.rate (
    tenant_id bigint NOT NULL,
    rate_plan_id uuid NOT NULL,
    date date NOT NULL,
    price numeric(10,2),
    is_sold_out boolean NOT NULL,
    CONSTRAINT rate_price_check CHECK ((price >= (0)::numeric))
);


--
-- Name: rate_plan; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.rate_plan (
    tenant_id bigint NOT NULL,
    id uuid NOT NULL,
    room_type_id uuid NOT NULL,
    "position" integer NOT NULL,
    name text NOT NULL,
    base_price numeric(10,2) NOT NULL,
    is_refundable boolean NOT NULL,
    min_nights integer NOT NULL,
    is_active boolean NOT NULL,
    CONSTRAINT rate_plan_base_price_check CHECK ((base_price >= (0)::numeric)),
    CONSTRAINT rate_plan_min_nights_check CHECK ((min_nights > 0))
);


--
-- Name: recent_change; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.recent_change (
    id uuid NOT NULL,
    tenant_id bigint NOT NULL,
    changed_at timestamp with time zone DEFAULT now() NOT NULL
);


--
-- Name: reservation; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.reservation (
    tenant_id bigint NOT NULL,
    id uuid NOT NULL,
    natural_id text NOT NULL COLLATE pg_catalog."C",
    credential_id uuid,
    external_reservation_id text COLLATE pg_catalog."C",
    external_source text COLLATE pg_catalog."C",
    external_id text COLLATE pg_catalog."C",
    status text NOT NULL,
    room_type_id uuid NOT NULL,
    rate_plan_id uuid,
    check_in date NOT NULL,
    check_out date NOT NULL,
    guests integer NOT NULL,
    guest_name text NOT NULL,
    guest_phone text,
    guest_email text,
    total_amount numeric(14,2) NOT NULL,
    currency text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    channel_timestamp bigint,
    channel_signatures text[],
    CONSTRAINT reservation_check CHECK ((check_out > check_in)),
    CONSTRAINT reservation_check1 CHECK (((credential_id IS NULL) = (external_reservation_id IS NULL))),
    CONSTRAINT reservation_check2 CHECK (((external_source IS NULL) = (external_id IS NULL))),
    CONSTRAINT reservation_check3 CHECK (((channel_timestamp IS NULL) = (channel_signatures IS NULL))),
    CONSTRAINT reservation_guests_check CHECK ((guests > 0)),
    CONSTRAINT reservation_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'confirmed'::text, 'cancelled'::text, 'no_show'::text, 'completed'::text, 'expired'::text]))),
    CONSTRAINT reservation_total_amount_check CHECK ((total_amount >= (0)::numeric))
);


--
-- Name: restaurant_order; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.restaurant_order (
    tenant_id bigint NOT NULL,
    id uuid NOT NULL,
    credential_id uuid NOT NULL,
    external_order_id text NOT NULL COLLATE pg_catalog."C",
    status text NOT NULL,
    order_type text NOT NULL,
    customer_name text,
    customer_phone text,
    delivery_address text,
    notes text,
    lines json NOT NULL,
    total numeric(10,2) NOT NULL,
    currency text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    CONSTRAINT restaurant_order_order_type_check CHECK ((order_type = ANY (ARRAY['delivery'::text, 'take_away'::text, 'pick_up'::text]))),
    CONSTRAINT restaurant_order_status_check CHECK ((status = ANY (ARRAY['pending'::text, 'confirmed'::text, 'preparing'::text, 'ready'::text, 'out_for_delivery'::text, 'completed'::text, 'cancelled'::text]))),
    CONSTRAINT restaurant_order_total_check CHECK ((total >= (0)::numeric))
);


--
-- Name: room_type; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.room_type (
    tenant_id bigint NOT NULL,
    id uuid NOT NULL,
    property_id uuid NOT NULL,
    "position" integer NOT NULL,
    name text NOT NULL,
    description text NOT NULL,
    max_occupancy integer NOT NULL,
    base_price numeric(10,2),
    physical_capacity integer NOT NULL,
    amenities jsonb NOT NULL,
    images jsonb NOT NULL,
    is_active boolean NOT NULL,
    CONSTRAINT room_type_base_price_check CHECK ((base_price >= (0)::numeric)),
    CONSTRAINT room_type_max_occupancy_check CHECK ((max_occupancy > 0)),
    CONSTRAINT room_type_physical_capacity_check CHECK ((physical_capacity >= 0))
);


--
-- Name: service_key; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.service_key (
    purpose text NOT NULL,
    version integer NOT NULL,
    wrapped_key bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT service_key_purpose_check CHECK ((purpose = ANY (ARRAY['pepper'::text, 'token'::text, 'encryption'::text]))),
    CONSTRAINT service_key_version_check CHECK ((version > 0))
);


--
-- Name: sign_in; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.sign_in (
    email text NOT NULL COLLATE pg_catalog."C",
    tenant_id bigint NOT NULL,
    user_id uuid NOT NULL
);


--
-- Name: sign_in_address; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.sign_in_address (
    tenant_id bigint NOT NULL,
    user_id uuid NOT NULL,
    address_hash bytea NOT NULL,
    signed_in_at timestamp with time zone NOT NULL
);


--
-- Name: tenant; Type: TABLE; Schema: public; Owner: -
--

CREATE TABLE public.tenant (
    id bigint NOT NULL,
    slug text NOT NULL COLLATE pg_catalog."C",
    name text NOT NULL,
    currency text NOT NULL,
    timezone text NOT NULL,
    features text[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT tenant_features_check CHECK ((features <@ ARRAY['restaurant'::text, 'hotel'::text]))
);


--
-- Name: tenant_id_seq; Type: SEQUENCE; Schema: public; Owner: -
--

ALTER TABLE public.tenant ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.tenant_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);


--
-- Data for Name: app_user; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.app_user VALUES (1, '01a212d7-b3c4-775d-830a-3f075a3f251a', 'owner@dumped.example', 'argon2id$19456$2$1$Z9khV3YDGvwG2ml2gAtxHw==$//CiFlCinJCS1d2Cf5hdK+0lH5/ed5afByNVorvOir8=', 'owner', true, '2026-11-25 13:14:15.867623+00', 0, true, 'owner', 'argon2id$19456$2$1$Z9khV3YDGvwG2ml2gAtxHw==$//CiFlCinJCS1d2Cf5hdK+0lH5/ed5afByNVorvOir8=');
INSERT INTO public.app_user VALUES (1, '01a212d7-b3c4-775e-ac9a-909d991d8668', 'staff@dumped.example', 'argon2id$19456$2$1$1wOS4dE3WSU2ukiZfkttZQ==$04IuuKFOGW/Q5SUevWVZ5GoAu7k7hXjcFyRCvk0GU54=', 'staff', true, '2026-11-25 13:14:15.867623+00', 0, true, 'staff', 'argon2id$19456$2$1$1wOS4dE3WSU2ukiZfkttZQ==$04IuuKFOGW/Q5SUevWVZ5GoAu7k7hXjcFyRCvk0GU54=');


--
-- Data for Name: audit_entry; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.audit_entry VALUES (1, '01a212d7-b3c8-752a-b0e8-77747e8af934', '2026-11-25 13:14:15.88+00', 'operator', NULL, 'user.created', '01a212d7-b3c4-775d-830a-3f075a3f251a', '{"email":"owner@dumped.example","role":"owner"}');
INSERT INTO public.audit_entry VALUES (1, '01a212d7-b3cc-718b-a511-5a36b9b0ee6f', '2026-11-25 13:14:15.884+00', 'operator', NULL, 'user.created', '01a212d7-b3c4-775e-ac9a-909d991d8668', '{"email":"staff@dumped.example","role":"staff"}');
INSERT INTO public.audit_entry VALUES (1, '01a212d7-b3f0-75c4-a6ae-204023b3183c', '2026-11-25 13:14:15.92+00', 'operator', NULL, 'tenant.applied', '1', '{"count":24,"changes":[{"what":"tenant","name":"dumped","change":"added","fields":[]},{"what":"kitchen","name":"Main kitchen","change":"added","fields":[]},{"what":"kitchen","name":"Default","change":"added","fields":[]},{"what":"category","name":"Pizza","change":"added","fields":[]},{"what":"category","name":"Drinks","change":"added","fields":[]},{"what":"sub-menu","name":"From the oven","change":"added","fields":[]},{"what":"sub-menu","name":"Default","change":"added","fields":[]},{"what":"menu set","name":"All day","change":"added","fields":[]},{"what":"menu set","name":"Default","change":"added","fields":[]},{"what":"dish","name":"PIZZA-1","change":"added","fields":[]},{"what":"dish","name":"WATER","change":"added","fields":[]},{"what":"dish","name":"OFF","change":"added","fields":[]},{"what":"property","name":"Harbour House","change":"added","fields":[]},{"what":"property","name":"Lagoon Lodge","change":"added","fields":[]},{"what":"room type","name":"Harbour House / Double","change":"added","fields":[]},{"what":"room type","name":"Harbour House / Suite","change":"added","fields":[]},{"what":"room type","name":"Harbour House / Bunk","change":"added","fields":[]},{"what":"room type","name":"Harbour House / Floor","change":"added","fields":[]},{"what":"room type","name":"Lagoon Lodge / Double","change":"added","fields":[]},{"what":"rate plan","name":"Harbour House / Double / Flexible","change":"added","fields":[]},{"what":"rate plan","name":"Harbour House / Double / Saver","change":"added","fields":[]},{"what":"rate plan","name":"Harbour House / Double / Closed for good","change":"added","fields":[]},{"what":"rate plan","name":"Harbour House / Suite / Suite rate","change":"added","fields":[]},{"what":"rate plan","name":"Lagoon Lodge / Double / Lagoon rate","change":"added","fields":[]}]}');
INSERT INTO public.audit_entry VALUES (1, '01a212d7-bf27-731f-a210-235153e415ad', '2026-11-25 13:14:18.791+00', 'user', '01a212d7-b3c4-775d-830a-3f075a3f251a', 'credential.created', '01a212d7-bf27-7320-a8f6-2360aba139dd', '{"audience":"third_party","label":"Old"}');
INSERT INTO public.audit_entry VALUES (1, '01a212d7-bf68-7098-8317-18dce93a1f41', '2026-11-25 13:14:18.856+00', 'credential', '01a212d7-bf27-7320-a8f6-2360aba139dd', 'webhook.registered', '01a212d7-bf27-7320-a8f6-2360aba139dd', '{"webhook_url":"https://partner.example/hook"}');
INSERT INTO public.audit_entry VALUES (1, '01a212d7-c0ff-7164-bd26-e3aac427283f', '2026-11-25 13:14:19.263+00', 'user', '01a212d7-b3c4-775d-830a-3f075a3f251a', 'credential.created', '01a212d7-c0ff-7165-b794-e7d1b416bf3e', '{"audience":"pms","label":""}');
INSERT INTO public.audit_entry VALUES (1, '01a212d7-c120-73a4-b9f8-29058d2e4f1f', '2026-11-25 13:14:19.296+00', 'user', '01a212d7-b3c4-775d-830a-3f075a3f251a', 'channel.created', '01a212d7-c121-72c4-b0df-14b434bfd5b0', '{"source":"an-ota"}');
INSERT INTO public.audit_entry VALUES (1, '01a212d7-c1c2-77df-9c69-940e48826d22', '2026-11-25 13:14:19.458+00', 'credential', '01a212d7-c0ff-7165-b794-e7d1b416bf3e', 'rates.written', '01a212d7-b3eb-7450-be3e-bd7400f2b9a4', '{"entries":[{"date":"2035-05-02","price":"123.45"}]}');


--
-- Data for Name: channel; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.channel VALUES (1, '01a212d7-c121-72c4-b0df-14b434bfd5b0', 'an-ota', 'rck_elmTsQTUUm7YGl9--venlQ', '\x0000000166123028be9ce2376879a200327d6304c3b3bc608760c13f924abb9e43fb2257fad362596db6ef395505c3b7f121047541a9ac64be04d6ed6bf0aa33d01d0d5d371795b6b5efcc4abbbe77', true, '2026-11-25 13:14:19.299339+00');


--
-- Data for Name: credential; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.credential VALUES (1, '01a212d7-c0ff-7165-b794-e7d1b416bf3e', 'pms', '', 'rpk_iYNkMV0mpNWWbaSp7IjgMg', '\x7b3a466b4eff709e89e2a6faffcecdb04eda7f03e6b1812049bf0b14ede69759', true, '2026-11-25 13:14:19.264828+00', '2026-11-25 13:14:20.397+00', NULL, '', NULL);
INSERT INTO public.credential VALUES (1, '01a212d7-bf27-7320-a8f6-2360aba139dd', 'third_party', 'Old', 'rsk_lahVVpIu3Ztn87t0PEqqiA', '\xd6bdcd5a75c8522139aaa57760e888926bcc43898ada7e72bd0f0b23b7e49cd4', true, '2026-11-25 13:14:18.792289+00', '2026-11-25 13:14:20.35+00', NULL, 'https://partner.example/hook', '\x0000000150152880cc941b5fe893acee51e2aede9af7d41ba1ea574121c9e38d0bb12fab8ed4ff588760474960c6782e3b4fe493aaac69e16bd3fb59791eb2f71d8d085d4e6759d0cb2b1af5c1083d');


--
-- Data for Name: dish; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.dish VALUES (1, '01a212d7-b3d5-70c7-97fd-136a53f56f65', 'PIZZA-1', 0, 'Margherita', 'tomato, mozzarella', 'veg', 10.00, true, true, 7.50, NULL, 'Pizza', 'From the oven', 'Main kitchen', 'All day', '[{"name": "Large", "price": "13.00"}]', '[{"name": "Extra cheese", "image": null, "price": "1.50", "dish_type": "veg", "is_active": true}, {"name": "Truffle", "image": null, "price": "9.00", "dish_type": null, "is_active": false}]', '["flour", "tomato"]');
INSERT INTO public.dish VALUES (1, '01a212d7-b3d5-70c8-b387-0a3e00d35d2b', 'WATER', 1, 'Water', '', NULL, 2.50, true, false, 19.00, NULL, 'Drinks', 'Default', 'Default', 'Default', '[]', '[]', '[]');
INSERT INTO public.dish VALUES (1, '01a212d7-b3d5-70c9-804a-f7de24f47849', 'OFF', 2, 'Not tonight', '', NULL, 5.00, false, true, 0.00, NULL, 'Pizza', 'Default', 'Default', 'Default', '[]', '[]', '[]');


--
-- Data for Name: event; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.event VALUES (1, '01a212d7-c031-706f-8af3-948dadfa322e', '01a212d7-bf27-7320-a8f6-2360aba139dd', 'order.status_changed', '{"event":"order.status_changed","event_id":"01a212d7-c031-706f-8af3-948dadfa322e","occurred_at":"2026-11-25T13:14:19.053Z","data":{"order_id":"01a212d7-bfbd-7082-a3ee-55ca7a5ec8dc","external_order_id":"ready order","status":"confirmed"}}', '2026-11-25 13:14:19.053+00', 'pending', 0, '[]', '2026-11-25 13:14:19.064621+00', NULL, 1);
INSERT INTO public.event VALUES (1, '01a212d7-c076-7477-90d9-408fbb0cbde3', '01a212d7-bf27-7320-a8f6-2360aba139dd', 'order.status_changed', '{"event":"order.status_changed","event_id":"01a212d7-c076-7477-90d9-408fbb0cbde3","occurred_at":"2026-11-25T13:14:19.116Z","data":{"order_id":"01a212d7-bfbd-7082-a3ee-55ca7a5ec8dc","external_order_id":"ready order","status":"preparing"}}', '2026-11-25 13:14:19.116+00', 'pending', 0, '[]', '2026-11-25 13:14:19.128381+00', NULL, 2);
INSERT INTO public.event VALUES (1, '01a212d7-c093-750e-8b33-03b5af562292', '01a212d7-bf27-7320-a8f6-2360aba139dd', 'order.status_changed', '{"event":"order.status_changed","event_id":"01a212d7-c093-750e-8b33-03b5af562292","occurred_at":"2026-11-25T13:14:19.151Z","data":{"order_id":"01a212d7-bfbd-7082-a3ee-55ca7a5ec8dc","external_order_id":"ready order","status":"ready"}}', '2026-11-25 13:14:19.151+00', 'pending', 0, '[]', '2026-11-25 13:14:19.162943+00', NULL, 3);
INSERT INTO public.event VALUES (1, '01a212d7-c0e2-7744-bb32-0250c6e7cfb4', '01a212d7-bf27-7320-a8f6-2360aba139dd', 'order.status_changed', '{"event":"order.status_changed","event_id":"01a212d7-c0e2-7744-bb32-0250c6e7cfb4","occurred_at":"2026-11-25T13:14:19.231Z","data":{"order_id":"01a212d7-c0bc-709c-8624-b8a76ebed4a2","external_order_id":"cancelled order","status":"cancelled"}}', '2026-11-25 13:14:19.231+00', 'pending', 0, '[]', '2026-11-25 13:14:19.235863+00', NULL, 4);
INSERT INTO public.event VALUES (1, '01a212d7-c30a-7175-8bd3-fe117ab8b849', '01a212d7-bf27-7320-a8f6-2360aba139dd', 'reservation.created', '{"event":"reservation.created","event_id":"01a212d7-c30a-7175-8bd3-fe117ab8b849","occurred_at":"2026-11-25T13:14:19.786Z","data":{"reservation_id":"01a212d7-c2f7-74ac-9c75-20b7f7c3de87","external_reservation_id":"kept stay","status":"confirmed"}}', '2026-11-25 13:14:19.786+00', 'pending', 0, '[]', '2026-11-25 13:14:19.798025+00', NULL, 5);
INSERT INTO public.event VALUES (1, '01a212d7-c345-772b-ad9b-cfa99596bad0', '01a212d7-bf27-7320-a8f6-2360aba139dd', 'reservation.created', '{"event":"reservation.created","event_id":"01a212d7-c345-772b-ad9b-cfa99596bad0","occurred_at":"2026-11-25T13:14:19.845Z","data":{"reservation_id":"01a212d7-c33f-7629-a245-f5e4a782812b","external_reservation_id":"cancelled stay","status":"confirmed"}}', '2026-11-25 13:14:19.845+00', 'pending', 0, '[]', '2026-11-25 13:14:19.848985+00', NULL, 6);
INSERT INTO public.event VALUES (1, '01a212d7-c368-76a3-974b-5182c3375c03', '01a212d7-bf27-7320-a8f6-2360aba139dd', 'reservation.cancelled', '{"event":"reservation.cancelled","event_id":"01a212d7-c368-76a3-974b-5182c3375c03","occurred_at":"2026-11-25T13:14:19.880Z","data":{"reservation_id":"01a212d7-c33f-7629-a245-f5e4a782812b","external_reservation_id":"cancelled stay","status":"cancelled"}}', '2026-11-25 13:14:19.88+00', 'pending', 0, '[]', '2026-11-25 13:14:19.881738+00', NULL, 7);


--
-- Data for Name: event_feed; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.event_feed VALUES (1, '01a212d7-bf27-7320-a8f6-2360aba139dd', 7);


--
-- Data for Name: feed_era; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.feed_era VALUES (true, 0);


--
-- Data for Name: kysely_migration; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.kysely_migration VALUES ('0001_tenants', '2026-11-25T13:14:15.373Z');
INSERT INTO public.kysely_migration VALUES ('0002_service_keys', '2026-11-25T13:14:15.380Z');
INSERT INTO public.kysely_migration VALUES ('0003_credentials', '2026-11-25T13:14:15.388Z');
INSERT INTO public.kysely_migration VALUES ('0004_menu', '2026-11-25T13:14:15.398Z');
INSERT INTO public.kysely_migration VALUES ('0005_orders', '2026-11-25T13:14:15.409Z');
INSERT INTO public.kysely_migration VALUES ('0006_events', '2026-11-25T13:14:15.421Z');
INSERT INTO public.kysely_migration VALUES ('0007_rooms', '2026-11-25T13:14:15.439Z');
INSERT INTO public.kysely_migration VALUES ('0008_rates', '2026-11-25T13:14:15.450Z');
INSERT INTO public.kysely_migration VALUES ('0009_nights', '2026-11-25T13:14:15.457Z');
INSERT INTO public.kysely_migration VALUES ('0010_channels', '2026-11-25T13:14:15.465Z');
INSERT INTO public.kysely_migration VALUES ('0011_reservations', '2026-11-25T13:14:15.483Z');
INSERT INTO public.kysely_migration VALUES ('0012_audit', '2026-11-25T13:14:15.489Z');
INSERT INTO public.kysely_migration VALUES ('0013_delivery_queues', '2026-11-25T13:14:15.493Z');
INSERT INTO public.kysely_migration VALUES ('0014_event_feed', '2026-11-25T13:14:15.499Z');
INSERT INTO public.kysely_migration VALUES ('0015_recent_changes', '2026-11-25T13:14:15.505Z');
INSERT INTO public.kysely_migration VALUES ('0016_user_generation', '2026-11-25T13:14:15.508Z');
INSERT INTO public.kysely_migration VALUES ('0017_sign_in_addresses', '2026-11-25T13:14:15.514Z');
INSERT INTO public.kysely_migration VALUES ('0018_feed_era', '2026-11-25T13:14:15.518Z');


--
-- Data for Name: kysely_migration_lock; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.kysely_migration_lock VALUES ('migration_lock', 0);


--
-- Data for Name: menu; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.menu VALUES (1, 1, '{"kitchens": [{"name": "Main kitchen", "created_at": "2026-11-25T13:14:15.893Z", "updated_at": "2026-11-25T13:14:15.893Z", "description": "downstairs"}, {"name": "Default", "created_at": "2026-11-25T13:14:15.893Z", "updated_at": "2026-11-25T13:14:15.893Z", "description": ""}], "menu_sets": [{"name": "All day", "status": "active", "service": "all_day", "sub_menus": ["From the oven"], "created_at": "2026-11-25T13:14:15.893Z", "updated_at": "2026-11-25T13:14:15.893Z"}, {"name": "Default", "status": "active", "service": "all_day", "sub_menus": [], "created_at": "2026-11-25T13:14:15.893Z", "updated_at": "2026-11-25T13:14:15.893Z"}], "sub_menus": [{"name": "From the oven", "is_active": true, "created_at": "2026-11-25T13:14:15.893Z", "updated_at": "2026-11-25T13:14:15.893Z"}, {"name": "Default", "is_active": true, "created_at": "2026-11-25T13:14:15.893Z", "updated_at": "2026-11-25T13:14:15.893Z"}], "categories": [{"name": "Pizza", "image": null, "created_at": "2026-11-25T13:14:15.893Z", "updated_at": "2026-11-25T13:14:15.893Z", "description": "", "ticket_type": null}, {"name": "Drinks", "image": null, "created_at": "2026-11-25T13:14:15.893Z", "updated_at": "2026-11-25T13:14:15.893Z", "description": "", "ticket_type": "bar"}]}');


--
-- Data for Name: night; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.night VALUES (1, '01a212d7-b3e1-70ab-a49b-2acc67b5d4f4', '2035-05-01', 2);
INSERT INTO public.night VALUES (1, '01a212d7-b3e1-70ab-a49b-2acc67b5d4f4', '2035-05-02', 2);
INSERT INTO public.night VALUES (1, '01a212d7-b3e1-70ab-a49b-2acc67b5d4f4', '2035-05-03', 2);
INSERT INTO public.night VALUES (1, '01a212d7-b3e1-70ab-a49b-2acc67b5d4f4', '2035-05-04', 1);
INSERT INTO public.night VALUES (1, '01a212d7-b3e1-70ab-a49b-2acc67b5d4f4', '2035-05-05', 1);
INSERT INTO public.night VALUES (1, '01a212d7-b3e1-70ab-a49b-2acc67b5d4f4', '2035-05-06', 1);


--
-- Data for Name: property; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.property VALUES (1, '01a212d7-b3e1-70aa-a156-f7fd0811ac38', 0, 'Harbour House', '1 Quay', 'Porto', 'PT', 'Europe/Lisbon', '15:00', '11:00', true);
INSERT INTO public.property VALUES (1, '01a212d7-b3e1-70af-8894-1b41b98e15da', 1, 'Lagoon Lodge', '2 Beach', 'London', 'KI', 'Pacific/Kiritimati', '14:00', '10:00', true);


--
-- Data for Name: rate; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.rate VALUES (1, '01a212d7-b3eb-7450-be3e-bd7400f2b9a4', '2035-05-02', 123.45, false);


--
-- Data for Name: rate_plan; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.rate_plan VALUES (1, '01a212d7-b3eb-7450-be3e-bd7400f2b9a4', '01a212d7-b3e1-70ab-a49b-2acc67b5d4f4', 0, 'Flexible', 100.00, true, 1, true);
INSERT INTO public.rate_plan VALUES (1, '01a212d7-b3eb-7451-8c93-7761a07d91e5', '01a212d7-b3e1-70ab-a49b-2acc67b5d4f4', 1, 'Saver', 80.00, false, 2, true);
INSERT INTO public.rate_plan VALUES (1, '01a212d7-b3eb-7452-9943-7983abfd2a5c', '01a212d7-b3e1-70ab-a49b-2acc67b5d4f4', 2, 'Closed for good', 1.00, true, 1, false);
INSERT INTO public.rate_plan VALUES (1, '01a212d7-b3eb-7453-acc6-0674232449f0', '01a212d7-b3e1-70ac-aafd-1f897ab96e35', 3, 'Suite rate', 250.50, true, 1, true);
INSERT INTO public.rate_plan VALUES (1, '01a212d7-b3eb-7454-9878-b18b6ea0cded', '01a212d7-b3e1-70b0-aea7-52424b206c21', 4, 'Lagoon rate', 70.00, true, 1, true);


--
-- Data for Name: recent_change; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.recent_change VALUES ('01a212d7-b3f1-7061-8a32-7743dbe4237f', 1, '2026-11-25 13:14:15.867623+00');


--
-- Data for Name: reservation; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.reservation VALUES (1, '01a212d7-c2f7-74ac-9c75-20b7f7c3de87', 'EG7D-MRBH', '01a212d7-bf27-7320-a8f6-2360aba139dd', 'kept stay', NULL, NULL, 'confirmed', '01a212d7-b3e1-70ab-a49b-2acc67b5d4f4', '01a212d7-b3eb-7451-8c93-7761a07d91e5', '2035-05-01', '2035-05-04', 1, 'Ana Lima', '+351 912 000 000', NULL, 240.00, 'EUR', '2026-11-25 13:14:19.767+00', NULL, NULL);
INSERT INTO public.reservation VALUES (1, '01a212d7-c33f-7629-a245-f5e4a782812b', 'JQ6Z-72Z8', '01a212d7-bf27-7320-a8f6-2360aba139dd', 'cancelled stay', NULL, NULL, 'cancelled', '01a212d7-b3e1-70ab-a49b-2acc67b5d4f4', '01a212d7-b3eb-7451-8c93-7761a07d91e5', '2035-05-01', '2035-05-04', 1, 'Ana Lima', '+351 912 000 000', NULL, 240.00, 'EUR', '2026-11-25 13:14:19.839+00', NULL, NULL);
INSERT INTO public.reservation VALUES (1, '01a212d7-c394-73a2-acfd-615445fef9f3', '18PJ-4ET0', NULL, NULL, 'an-ota', 'ota stay', 'confirmed', '01a212d7-b3e1-70ab-a49b-2acc67b5d4f4', '01a212d7-b3eb-7451-8c93-7761a07d91e5', '2035-05-01', '2035-05-07', 1, 'Bo Berg', NULL, NULL, 480.00, 'EUR', '2026-11-25 13:14:19.926+00', 1795612459, '{sha256=d456c493b213466e4aff7cb8294a79b7bb3e9b8c2c350bed47ab9d9e3d9e4de1}');


--
-- Data for Name: restaurant_order; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.restaurant_order VALUES (1, '01a212d7-bfbd-7082-a3ee-55ca7a5ec8dc', '01a212d7-bf27-7320-a8f6-2360aba139dd', 'ready order', 'ready', 'delivery', NULL, NULL, NULL, NULL, '[{"sku":"WATER","name":"Water","variant":null,"quantity":1,"unit_price":"2.50","addons":[],"extra_tax_percentage":"0.00","total":"2.50"}]', 2.50, 'EUR', '2026-11-25 13:14:18.942+00');
INSERT INTO public.restaurant_order VALUES (1, '01a212d7-c0a8-726f-abc0-8d04e6a41e88', '01a212d7-bf27-7320-a8f6-2360aba139dd', 'pending order', 'pending', 'delivery', NULL, NULL, NULL, NULL, '[{"sku":"WATER","name":"Water","variant":null,"quantity":1,"unit_price":"2.50","addons":[],"extra_tax_percentage":"0.00","total":"2.50"}]', 2.50, 'EUR', '2026-11-25 13:14:19.177+00');
INSERT INTO public.restaurant_order VALUES (1, '01a212d7-c0bc-709c-8624-b8a76ebed4a2', '01a212d7-bf27-7320-a8f6-2360aba139dd', 'cancelled order', 'cancelled', 'delivery', NULL, NULL, NULL, NULL, '[{"sku":"WATER","name":"Water","variant":null,"quantity":1,"unit_price":"2.50","addons":[],"extra_tax_percentage":"0.00","total":"2.50"}]', 2.50, 'EUR', '2026-11-25 13:14:19.196+00');


--
-- Data for Name: room_type; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.room_type VALUES (1, '01a212d7-b3e1-70ab-a49b-2acc67b5d4f4', '01a212d7-b3e1-70aa-a156-f7fd0811ac38', 0, 'Double', 'with a view', 2, 90.00, 3, '["wifi"]', '["https://images.example.com/double.jpg"]', true);
INSERT INTO public.room_type VALUES (1, '01a212d7-b3e1-70ac-aafd-1f897ab96e35', '01a212d7-b3e1-70aa-a156-f7fd0811ac38', 1, 'Suite', '', 4, NULL, 1, '[]', '[]', true);
INSERT INTO public.room_type VALUES (1, '01a212d7-b3e1-70ad-a520-2b07e81a8428', '01a212d7-b3e1-70aa-a156-f7fd0811ac38', 2, 'Bunk', '', 1, 25.00, 10, '[]', '[]', true);
INSERT INTO public.room_type VALUES (1, '01a212d7-b3e1-70ae-a9f2-7c7b5951d051', '01a212d7-b3e1-70aa-a156-f7fd0811ac38', 3, 'Floor', '', 1, NULL, 2, '[]', '[]', true);
INSERT INTO public.room_type VALUES (1, '01a212d7-b3e1-70b0-aea7-52424b206c21', '01a212d7-b3e1-70af-8894-1b41b98e15da', 4, 'Double', '', 2, 60.00, 2, '[]', '[]', true);


--
-- Data for Name: service_key; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.service_key VALUES ('pepper', 1, '\x3e0c8299c2e8302dea916b31dd05ab8c9e3895dba7bbf940a24ce794f1f256456c8fa5518ae5c2138f757c97c4dbb0beee1f90a538989e95f47aba23', '2026-11-25 13:14:15.544926+00');
INSERT INTO public.service_key VALUES ('token', 1, '\x7b5730dad748388206b3a72b40afab5cf828c1e0746b34d0677f02a9a8a1144fe1b7aa784d8a4b85d8891ff33cf32e93f093236fd4a7dcc2930ed1b2', '2026-11-25 13:14:15.544926+00');
INSERT INTO public.service_key VALUES ('encryption', 1, '\x6819e918396deff96b070bcf41b0361beaeb911ce1911ce56a83a24ee23c9c0e0ab9298e77c00f3308fb9f6884f29b4d0df2ff5de893edd92bbe7076', '2026-11-25 13:14:15.544926+00');


--
-- Data for Name: sign_in; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.sign_in VALUES ('owner@dumped.example', 1, '01a212d7-b3c4-775d-830a-3f075a3f251a');
INSERT INTO public.sign_in VALUES ('staff@dumped.example', 1, '01a212d7-b3c4-775e-ac9a-909d991d8668');


--
-- Data for Name: sign_in_address; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.sign_in_address VALUES (1, '01a212d7-b3c4-775d-830a-3f075a3f251a', '\xef668dbe99546dda3c2c388bcb9c8ca9df2e45861c1869cb59fed0a924289fa6', '2026-11-25 13:14:18.538+00');


--
-- Data for Name: tenant; Type: TABLE DATA; Schema: public; Owner: -
--

INSERT INTO public.tenant OVERRIDING SYSTEM VALUE VALUES (1, 'dumped', 'Harbour House', 'EUR', 'Europe/Lisbon', '{hotel,restaurant}', '2026-11-25 13:14:15.867623+00');


--
-- Name: tenant_id_seq; Type: SEQUENCE SET; Schema: public; Owner: -
--

SELECT pg_catalog.setval('public.tenant_id_seq', 1, true);


--
-- Name: app_user app_user_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.app_user
    ADD CONSTRAINT app_user_pkey PRIMARY KEY (tenant_id, id);


--
-- Name: app_user app_user_tenant_id_email_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.app_user
    ADD CONSTRAINT app_user_tenant_id_email_key UNIQUE (tenant_id, email);


--
-- Name: audit_entry audit_entry_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_entry
    ADD CONSTRAINT audit_entry_pkey PRIMARY KEY (tenant_id, id);


--
-- Name: channel channel_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.channel
    ADD CONSTRAINT channel_pkey PRIMARY KEY (tenant_id, id);


--
-- Name: channel channel_tenant_id_channel_key_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.channel
    ADD CONSTRAINT channel_tenant_id_channel_key_key UNIQUE (tenant_id, channel_key);


--
-- Name: credential credential_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.credential
    ADD CONSTRAINT credential_pkey PRIMARY KEY (tenant_id, id);


--
-- Name: credential credential_tenant_id_api_key_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.credential
    ADD CONSTRAINT credential_tenant_id_api_key_key UNIQUE (tenant_id, api_key);


--
-- Name: dish dish_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.dish
    ADD CONSTRAINT dish_pkey PRIMARY KEY (tenant_id, id);


--
-- Name: dish dish_tenant_id_sku_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.dish
    ADD CONSTRAINT dish_tenant_id_sku_key UNIQUE (tenant_id, sku);


--
-- Name: event_feed event_feed_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.event_feed
    ADD CONSTRAINT event_feed_pkey PRIMARY KEY (tenant_id, credential_id);


--
-- Name: event event_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.event
    ADD CONSTRAINT event_pkey PRIMARY KEY (tenant_id, id);


--
-- Name: feed_era feed_era_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.feed_era
    ADD CONSTRAINT feed_era_pkey PRIMARY KEY (is_only);


--
-- Name: kysely_migration_lock kysely_migration_lock_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.kysely_migration_lock
    ADD CONSTRAINT kysely_migration_lock_pkey PRIMARY KEY (id);


--
-- Name: kysely_migration kysely_migration_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.kysely_migration
    ADD CONSTRAINT kysely_migration_pkey PRIMARY KEY (name);


--
-- Name: menu menu_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.menu
    ADD CONSTRAINT menu_pkey PRIMARY KEY (tenant_id);


--
-- Name: night night_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.night
    ADD CONSTRAINT night_pkey PRIMARY KEY (tenant_id, room_type_id, date);


--
-- Name: property property_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.property
    ADD CONSTRAINT property_pkey PRIMARY KEY (tenant_id, id);


--
-- Name: property property_tenant_id_name_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.property
    ADD CONSTRAINT property_tenant_id_name_key UNIQUE (tenant_id, name);


--
-- Name: rate rate_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.rate
    ADD CONSTRAINT rate_pkey PRIMARY KEY (tenant_id, rate_plan_id, date);


--
-- Name: rate_plan rate_plan_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.rate_plan
    ADD CONSTRAINT rate_plan_pkey PRIMARY KEY (tenant_id, id);


--
-- Name: rate_plan rate_plan_tenant_id_room_type_id_name_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.rate_plan
    ADD CONSTRAINT rate_plan_tenant_id_room_type_id_name_key UNIQUE (tenant_id, room_type_id, name);


--
-- Name: recent_change recent_change_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.recent_change
    ADD CONSTRAINT recent_change_pkey PRIMARY KEY (id);


--
-- Name: reservation reservation_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.reservation
    ADD CONSTRAINT reservation_pkey PRIMARY KEY (tenant_id, id);


--
-- Name: reservation reservation_tenant_id_credential_id_external_reservation_id_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.reservation
    ADD CONSTRAINT reservation_tenant_id_credential_id_external_reservation_id_key UNIQUE (tenant_id, credential_id, external_reservation_id);


--
-- Name: reservation reservation_tenant_id_external_source_external_id_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.reservation
    ADD CONSTRAINT reservation_tenant_id_external_source_external_id_key UNIQUE (tenant_id, external_source, external_id);


--
-- Name: reservation reservation_tenant_id_natural_id_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.reservation
    ADD CONSTRAINT reservation_tenant_id_natural_id_key UNIQUE (tenant_id, natural_id);


--
-- Name: restaurant_order restaurant_order_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.restaurant_order
    ADD CONSTRAINT restaurant_order_pkey PRIMARY KEY (tenant_id, id);


--
-- Name: restaurant_order restaurant_order_tenant_id_credential_id_external_order_id_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.restaurant_order
    ADD CONSTRAINT restaurant_order_tenant_id_credential_id_external_order_id_key UNIQUE (tenant_id, credential_id, external_order_id);


--
-- Name: room_type room_type_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.room_type
    ADD CONSTRAINT room_type_pkey PRIMARY KEY (tenant_id, id);


--
-- Name: room_type room_type_tenant_id_property_id_name_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.room_type
    ADD CONSTRAINT room_type_tenant_id_property_id_name_key UNIQUE (tenant_id, property_id, name);


--
-- Name: service_key service_key_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.service_key
    ADD CONSTRAINT service_key_pkey PRIMARY KEY (purpose, version);


--
-- Name: sign_in_address sign_in_address_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sign_in_address
    ADD CONSTRAINT sign_in_address_pkey PRIMARY KEY (tenant_id, user_id, address_hash);


--
-- Name: sign_in sign_in_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sign_in
    ADD CONSTRAINT sign_in_pkey PRIMARY KEY (email);


--
-- Name: tenant tenant_pkey; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tenant
    ADD CONSTRAINT tenant_pkey PRIMARY KEY (id);


--
-- Name: tenant tenant_slug_key; Type: CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.tenant
    ADD CONSTRAINT tenant_slug_key UNIQUE (slug);


--
-- Name: event_deliveries; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX event_deliveries ON public.event USING btree (tenant_id, id) WHERE (delivery_status IS NOT NULL);


--
-- Name: event_deliveries_by_status; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX event_deliveries_by_status ON public.event USING btree (tenant_id, delivery_status, id) WHERE (delivery_status IS NOT NULL);


--
-- Name: event_due; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX event_due ON public.event USING btree (tenant_id, credential_id, next_attempt_at) WHERE (delivery_status = 'pending'::text);


--
-- Name: event_failed; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX event_failed ON public.event USING btree (tenant_id, credential_id, id) WHERE (delivery_status = 'failed'::text);


--
-- Name: event_in_feed; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX event_in_feed ON public.event USING btree (tenant_id, credential_id, feed_position, id);


--
-- Name: recent_change_by_time; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX recent_change_by_time ON public.recent_change USING btree (changed_at);


--
-- Name: reservation_by_check_in; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX reservation_by_check_in ON public.reservation USING btree (tenant_id, check_in, id);


--
-- Name: reservation_by_credential; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX reservation_by_credential ON public.reservation USING btree (tenant_id, credential_id, id);


--
-- Name: reservation_by_status; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX reservation_by_status ON public.reservation USING btree (tenant_id, status, id);


--
-- Name: reservation_by_status_check_in; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX reservation_by_status_check_in ON public.reservation USING btree (tenant_id, status, check_in, id);


--
-- Name: restaurant_order_by_credential; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX restaurant_order_by_credential ON public.restaurant_order USING btree (tenant_id, credential_id, id);


--
-- Name: restaurant_order_by_status; Type: INDEX; Schema: public; Owner: -
--

CREATE INDEX restaurant_order_by_status ON public.restaurant_order USING btree (tenant_id, status, id);


--
-- Name: app_user app_user_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.app_user
    ADD CONSTRAINT app_user_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);


--
-- Name: audit_entry audit_entry_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.audit_entry
    ADD CONSTRAINT audit_entry_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);


--
-- Name: channel channel_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.channel
    ADD CONSTRAINT channel_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);


--
-- Name: credential credential_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.credential
    ADD CONSTRAINT credential_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);


--
-- Name: dish dish_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.dish
    ADD CONSTRAINT dish_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.menu(tenant_id);


--
-- Name: event_feed event_feed_tenant_id_credential_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.event_feed
    ADD CONSTRAINT event_feed_tenant_id_credential_id_fkey FOREIGN KEY (tenant_id, credential_id) REFERENCES public.credential(tenant_id, id);


--
-- Name: event event_tenant_id_credential_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.event
    ADD CONSTRAINT event_tenant_id_credential_id_fkey FOREIGN KEY (tenant_id, credential_id) REFERENCES public.credential(tenant_id, id);


--
-- Name: menu menu_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.menu
    ADD CONSTRAINT menu_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);


--
-- Name: night night_tenant_id_room_type_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.night
    ADD CONSTRAINT night_tenant_id_room_type_id_fkey FOREIGN KEY (tenant_id, room_type_id) REFERENCES public.room_type(tenant_id, id);


--
-- Name: property property_tenant_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.property
    ADD CONSTRAINT property_tenant_id_fkey FOREIGN KEY (tenant_id) REFERENCES public.tenant(id);


--
-- Name: rate_plan rate_plan_tenant_id_room_type_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.rate_plan
    ADD CONSTRAINT rate_plan_tenant_id_room_type_id_fkey FOREIGN KEY (tenant_id, room_type_id) REFERENCES public.room_type(tenant_id, id);


--
-- Name: rate rate_tenant_id_rate_plan_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.rate
    ADD CONSTRAINT rate_tenant_id_rate_plan_id_fkey FOREIGN KEY (tenant_id, rate_plan_id) REFERENCES public.rate_plan(tenant_id, id);


--
-- Name: reservation reservation_tenant_id_credential_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.reservation
    ADD CONSTRAINT reservation_tenant_id_credential_id_fkey FOREIGN KEY (tenant_id, credential_id) REFERENCES public.credential(tenant_id, id);


--
-- Name: reservation reservation_tenant_id_rate_plan_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.reservation
    ADD CONSTRAINT reservation_tenant_id_rate_plan_id_fkey FOREIGN KEY (tenant_id, rate_plan_id) REFERENCES public.rate_plan(tenant_id, id);


--
-- Name: reservation reservation_tenant_id_room_type_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.reservation
    ADD CONSTRAINT reservation_tenant_id_room_type_id_fkey FOREIGN KEY (tenant_id, room_type_id) REFERENCES public.room_type(tenant_id, id);


--
-- Name: restaurant_order restaurant_order_tenant_id_credential_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.restaurant_order
    ADD CONSTRAINT restaurant_order_tenant_id_credential_id_fkey FOREIGN KEY (tenant_id, credential_id) REFERENCES public.credential(tenant_id, id);


--
-- Name: room_type room_type_tenant_id_property_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.room_type
    ADD CONSTRAINT room_type_tenant_id_property_id_fkey FOREIGN KEY (tenant_id, property_id) REFERENCES public.property(tenant_id, id);


--
-- Name: sign_in_address sign_in_address_tenant_id_user_id_fkey; Type: FK CONSTRAINT; Schema: public; Owner: -
--

ALTER TABLE ONLY public.sign_in_address
    ADD CONSTRAINT sign_in_address_tenant_id_user_id_fkey FOREIGN KEY (tenant_id, user_id) REFERENCES public.app_user(tenant_id, id);


--
-- PostgreSQL database dump complete
--


