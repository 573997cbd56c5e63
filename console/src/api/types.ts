/** `npm run generate` writes this file from the OpenAPI document with the same name in contract/. Do not edit it. */

/** An extra that can be ordered with the dish. */
export interface AddOnDish {
  /** The id of the add-on. Send it as `addon_id` in an order. It stays the same if dish and name stay the same. */
  id: string;
  /** The name of the add-on. */
  name: string;
  /** The price of one add-on, added to the price of one piece. */
  price: string;
  /** The URL of a picture. Null if there is no picture. */
  image: string | null;
  /** The diet that the dish or add-on suits. Empty or null if unknown. */
  dish_type: 'veg' | 'non_veg' | 'halal' | 'vegan' | 'gluten_free' | 'sugar_free' | '' | null;
  /** True if the add-on can be ordered. Partners see only such add-ons. */
  is_active: boolean;
}

/** An extra that can be ordered with a dish. */
export interface AddonDocument {
  /** The name of the add-on, unique within the dish. */
  name: string;
  /** The price of one add-on, added to the price of the dish. */
  price: string;
  /** The diet that the add-on suits. Empty or null if unknown. */
  dish_type?: 'veg' | 'non_veg' | 'halal' | 'vegan' | 'gluten_free' | 'sugar_free' | '' | null;
  /** The http or https URL of a picture of the add-on. Null if it has no picture. */
  image?: string | null;
  /** False if the add-on is off the menu, so that it is not listed and cannot be ordered. */
  is_active?: boolean;
}

/** One attempt to deliver an event, with the begin of the response. */
export interface AnsweredAttempt {
  /** Time at which the attempt began. */
  at: string;
  /** HTTP status of the response. Null if the receiver did not answer. */
  http_status: number | null;
  /** Duration of the attempt in milliseconds. Null if it is not known. */
  duration_ms: number | null;
  /** Reason why the attempt failed. Null if it succeeded. */
  error: string | null;
  /** The first 1,024 bytes of the response, as text. Null if the attempt succeeded, if the receiver did not answer, or if the operator allows receivers in private networks. */
  answer: string | null;
}

/** The arrival of the guests. */
export interface Arrival {
  /** True if the guests have arrived. False takes the arrival back. */
  arrived: boolean;
}

/** One action, with its actor and time. Entries are only added. They are never changed or removed. */
export interface AuditEntry {
  /** The id of the entry. */
  id: string;
  /** The time of the action. */
  at: string;
  /** The user, display, partner, PMS or operator that acted. */
  actor: {
    /** `user`: a user who signed in. `display`: a screen that is paired with the tenant. `credential`: a partner or a PMS. `operator`: a person who ran a command of the service. `anonymous`: a person whose sign-in failed. */
    type: 'user' | 'display' | 'credential' | 'operator' | 'anonymous';
    /** The id of the user, display or credential. Null for `operator` and `anonymous`. */
    id: string | null;
    /** The present name of the user, or the e-mail address of a user without a name. For a display or a credential, the present label. Null for `operator` and `anonymous`. */
    name: string | null;
  };
  /** The kind of action: `credential.created`, `credential.changed`, `credential.revoked`, `credential.rotated`, `channel.created`, `channel.revoked`, `channel.rotated`, `dish.changed`, `dishes.availability_changed`, `display.created`, `display.paired`, `display.removed`, `menu.replaced`, `opening_hours.changed`, `pause.started`, `pause.ended`, `webhook.registered`, `webhook.removed`, `webhook.tested`, `rate_plan.changed`, `rates.changed`, `rates.written`, `restrictions.written`, `reservation.booked`, `reservation.changed`, `reservation.arrival`, `room_type.changed`, `session.ended`, `sign_in.failed`, `user.created`, `user.changed`, `user.disabled`, `user.enabled`, `user.link_created`, `user.password_changed` or `tenant.applied`. `tenant.applied` reports all other changes by a tenant document. New kinds may be added. */
  action: string;
  /** The id of the credential, channel, rate plan, room type, reservation, user or display that the action changed or concerned, the `sku` of a dish, or the number of the tenant. */
  subject: string;
  /** The present name of the subject: the name or the e-mail address of a user, the label of a credential or a display, the source of a channel, the name of a room type, the names of the room type and the rate plan, the name of the guest, the name of a dish, or the name of the tenant. Null if the subject is unknown. */
  subject_label: string | null;
  /** Further facts about the action. The fields depend on the kind of action. They never contain a secret. */
  details: Record<string, unknown>;
}

/** A part of the list. */
export interface AuditEntryPage {
  /** The next entries of the list. */
  results: AuditEntry[];
  /** Send this text as `after` to read the entries that follow. Null at the end of the list. A call examines at most 10,000 entries. So if few entries pass the filters, `results` may have fewer than `limit` entries or none, and `next` is not null. */
  next: string | null;
}

/** Dishes that can or cannot be ordered from now on. */
export interface AvailabilityChange {
  /** The `sku` of each dish. A dish that is named several times counts once. */
  skus: string[];
  /** False takes the dishes off the menu, and true puts them back. */
  is_active: boolean;
}

/** A rate plan with its price and restriction of each night. */
export interface CalendarRatePlan {
  /** The id of the rate plan. */
  id: string;
  /** The name of the rate plan, unique within the room type. */
  name: string;
  /** The price of each night that has no price of its own. */
  base_price: string;
  /** The shortest stay that can be booked under the plan, in nights. */
  min_nights: number;
  /** The price of each night: its own price, or the `base_price` of the plan if it has no own price. */
  prices: string[];
  /** For each night, true if it has a price of its own. */
  is_own: boolean[];
  /** For each night, true if the plan is closed for sale. */
  closed: boolean[];
}

/** A room type with its held rooms and its rate plans, night by night. */
export interface CalendarRoomType {
  /** The id of the room type. */
  id: string;
  /** The name of the room type, unique within the property. */
  name: string;
  /** The number of rooms of this room type. */
  physical_capacity: number;
  /** The number of rooms that reservations hold in each night. It is above the capacity after an oversell. */
  held: number[];
  /** The active rate plans of the room type, in the order of the tenant document. */
  rate_plans: CalendarRatePlan[];
}

/** A category of the menu. It lists dishes under one heading. */
export interface Category {
  /** The id of the category. It stays the same if the name stays the same. */
  id: string;
  /** The name of the category. The menu shows it as a heading. */
  name: string;
  /** The number of dishes that the menu lists in this category, as text. */
  dish_count: string;
  /** A description of the category. It may be empty. */
  description: string;
  /** The URL of a picture. Null if there is no picture. */
  image: string | null;
  /** The kind of kitchen ticket that prints the dishes. Null if unknown. */
  ticket_type: string | null;
  /** The number of the restaurant or hotel that the menu belongs to. */
  tenant: number;
  /** The id of the sub-menu if the category itself belongs to a sub-menu. Otherwise null. */
  sub_menu: string | null;
  /** The id of the menu set if the category itself belongs to a menu set. Otherwise null. */
  menu_set: string | null;
  /** The time when this part was added to the menu. */
  created_at: string;
  /** The time when this part of the menu last changed. */
  updated_at: string;
  /** Always null, because a deleted category is not listed. */
  deleted_at: string | null;
  /** The time when the category was restored after a deletion. Null if it was never deleted. */
  restored_at: string | null;
  /** Not used. */
  transaction_id: string | null;
}

/** A category that lists dishes under one heading. */
export interface CategoryDocument {
  /** The name of the category. Dishes refer to the category by this name. */
  name: string;
  /** A description of the category. */
  description?: string;
  /** The http or https URL of a picture of the category. Null if it has no picture. */
  image?: string | null;
  /** The place where the tickets for these dishes are printed, as free text. Null if unknown. */
  ticket_type?: string | null;
}

/** A night with its values before and after the call. */
export interface ChangedNight {
  /** The rate plan. */
  rate_plan_id: string;
  /** The day on which the night begins. */
  date: string;
  before: NightState;
  after: NightState;
}

/** A rate plan after a change. */
export interface ChangedRatePlan {
  /** The id of the plan. */
  id: string;
  /** The name of the plan, unique within the room type. */
  name: string;
  /** The price of each night that has no price of its own, in the currency of the tenant. */
  base_price: string;
  /** The shortest stay that can be booked under the plan, in nights. */
  min_nights: number;
  /** False if no new stay can be booked under the plan. */
  is_active: boolean;
}

/** A room type after a change. */
export interface ChangedRoomType {
  /** The id of the room type. */
  id: string;
  /** The name of the room type, unique within the property. */
  name: string;
  /** The number of rooms of this type in the building. */
  physical_capacity: number;
}

/** A channel through which an OTA sends reservations, without its secret. */
export interface Channel {
  /** The id of the channel. The calls that revoke and rotate the channel use it. */
  id: string;
  /** The name of the OTA. */
  source: string;
  /** The key of the channel, which is not secret. Each call of the OTA carries it as `X-Channel-Key`. */
  channel_key: string;
  /** False if the channel is revoked. A revoked channel stays revoked. */
  is_active: boolean;
  /** The time at which the channel was created. */
  created_at: string;
}

/** A new channel for an OTA. */
export interface ChannelCreate {
  /** The name of the OTA. Reservations that come through the channel have it as `external_source`. Two channels with one source share their reservations, so a new channel can replace an old one without duplicate reservations. */
  source: string;
}

/** A new channel with its key and its secret. Enter both at the OTA. */
export interface ChannelSecret {
  /** The id of the channel. The calls that revoke and rotate the channel use it. */
  id: string;
  /** The name of the OTA. */
  source: string;
  /** The key of the channel, which is not secret. Each call of the OTA carries it as `X-Channel-Key`. */
  channel_key: string;
  /** The secret with which the OTA signs its calls, as text. Only this response shows it. */
  channel_secret: string;
}

/** The new display, with its pairing code. */
export interface CreatedDisplay {
  /** The id of the display. */
  id: string;
  /** The label of the display. Lists of changes show it as the name of the display. */
  label: string;
  /** The parts of the staff API that the person or display may use. `orders`: orders and pauses. `menu`: the menu. `hotel`: stays and the calendar. `rates`: changes of prices and restrictions. `deliveries`: deliveries and events. An owner has all areas. */
  areas: ('orders' | 'menu' | 'hotel' | 'rates' | 'deliveries')[];
  /** Eight letters to type on the display. No other response shows them. */
  pairing_code: string;
  /** The time at which the pairing code ends: after 10 minutes. */
  expires_at: string;
}

/** The budget of calls. This call takes nothing from the budget. */
export interface CredentialBudget {
  /** Number of calls that the credential may make in one minute. */
  limit: number;
  /** Number of calls that count in the present minute, at most `limit`. The credential may make `limit` minus `used` more calls in this minute. */
  used: number;
  /** Whole seconds until the present minute ends, rounded up. 0 if the credential has made no call in the last minute. */
  resets_in_s: number;
  /** True if all processes of the service count together, so that `used` includes all calls. False if each process has its own count, because there is no Redis or because Redis does not answer. `used` is then the count of the process that answered this call. While Redis does not answer, each process accepts only its share of the budget, and counts the rest as used. */
  is_shared: boolean;
}

/** The new label of a credential. */
export interface CredentialChange {
  /** The new name of the credential. It may be empty. It has no effect on the partner or the PMS. */
  label: string;
}

/** The orders of one partner on one day. */
export interface CredentialDay {
  /** The id of the credential. It may be revoked. */
  id: string;
  /** The present label of the credential. It may be empty. */
  label: string;
  /** The number of orders that the credential has placed on this day. */
  orders: number;
  /** The sum of the totals of these orders. */
  total: string;
}

/** The state of the deliveries to the partner. */
export interface CredentialDeliveries {
  /** Number of deliveries that wait for their next attempt. */
  pending: number;
  /** Number of failed deliveries that are still kept. */
  failed: number;
  /** Time of the last attempt of the newest failed delivery. Null if no delivery has failed. */
  last_failed_at: string | null;
  /** Time of the event of the oldest waiting delivery. Null if no delivery waits. */
  oldest_pending_at: string | null;
}

/** The results of the deliveries to the partner in the last 24 hours. */
export interface CredentialHealth {
  /** The time from which the hours have all events. It is 24 hours ago. If the partner had more than 5,000 events since then, it is later, because only the newest 5,000 events count. */
  since: string;
  /** Each hour from `since` until now, oldest first, including hours without deliveries. A delivery belongs to the hour of its event. */
  hours: HealthHour[];
}

/** The overlap of a rotation. */
export interface CredentialRotation {
  /** Minutes for which the replaced secret still works, at most a day. With 0, this secret ends immediately. If it may have leaked, send 0. */
  overlap_minutes: number;
}

/** The orders and the stays of one day. Without the restaurant feature, the values of orders are zero. Without the hotel feature, the values of stays are zero. */
export interface DayReport {
  /** The day. */
  date: string;
  /** The number of orders that were placed on this day in the time zone of the tenant. Cancelled orders do not count. */
  orders: number;
  /** The sum of the totals of these orders, in the currency of the tenant. An order in an earlier currency of the tenant adds nothing. */
  order_total: string;
  /** The orders of this day by partner, the oldest credential first. A partner without orders on this day is left out. */
  by_credential: CredentialDay[];
  /** The number of stays whose `check_in` is this day. A stay counts while it holds its nights: with every status except `cancelled` and `expired`. */
  arrivals: number;
  /** The number of rooms that stays hold in the night that begins on this day. Stays with the status `cancelled` or `expired` do not count. */
  rooms_sold: number;
  /** The present number of rooms of all active room types. Every day has the same number, because earlier numbers are not kept. */
  rooms: number;
  /** The sum of the prices of this night over all stays that count, in the currency of the tenant. If the price of each night of a stay is not known, because an OTA or the hotel gave one amount for the whole stay, each of its nights has an equal part of the amount. A stay in an earlier currency of the tenant adds nothing. */
  room_revenue: string;
}

/** Delivery of one event to the webhook of a partner. */
export interface Delivery {
  /** The id of the delivery. */
  id: string;
  /** The name of the event. */
  event: string;
  /** The id of the event. The receiver gets the same id. */
  event_id: string;
  /** `pending`: the delivery waits for its next attempt. `delivered`: the receiver answered 2xx. `failed`: the fifth attempt failed, and the service does not try again. `stopped`: the credential was revoked, or its webhook URL was removed. */
  status: 'pending' | 'delivered' | 'failed' | 'stopped';
  /** All attempts, oldest first. There are at most five. */
  attempts: DeliveryAttempt[];
  /** Time at which the event was written. */
  created_at: string;
  /** The id of the credential that the event belongs to. */
  credential_id: string;
  /** The label of this credential. It may be empty. */
  credential_label: string;
  /** Time from which the next attempt may begin. If it has passed, the attempt waits for its turn or is under way. Null if no attempt follows. */
  next_attempt_at: string | null;
  subject: EventSubject;
}

/** One attempt to deliver an event. */
export interface DeliveryAttempt {
  /** Time at which the attempt began. */
  at: string;
  /** HTTP status of the response. Null if the receiver did not answer. */
  http_status: number | null;
  /** Duration of the attempt in milliseconds. Null if it is not known. */
  duration_ms: number | null;
  /** Reason why the attempt failed. Null if it succeeded. */
  error: string | null;
}

/** Delivery of one event, with the request and the responses. */
export interface DeliveryDetail {
  /** The id of the delivery. */
  id: string;
  /** The name of the event. */
  event: string;
  /** The id of the event. The receiver gets the same id. */
  event_id: string;
  /** `pending`: the delivery waits for its next attempt. `delivered`: the receiver answered 2xx. `failed`: the fifth attempt failed, and the service does not try again. `stopped`: the credential was revoked, or its webhook URL was removed. */
  status: 'pending' | 'delivered' | 'failed' | 'stopped';
  /** All attempts, oldest first. There are at most five. */
  attempts: AnsweredAttempt[];
  /** Time at which the event was written. */
  created_at: string;
  /** The id of the credential that the event belongs to. */
  credential_id: string;
  /** The label of this credential. It may be empty. */
  credential_label: string;
  /** Time from which the next attempt may begin. If it has passed, the attempt waits for its turn or is under way. Null if no attempt follows. */
  next_attempt_at: string | null;
  subject: EventSubject;
  /** The body of all attempts, as it is signed. */
  body: string;
  /** The headers of the last attempt without its signature, and without headers that depend on the connection, for example `host`. The header with the timestamp is missing if the last attempt signed no request, or has no outcome. */
  headers: Record<string, string>;
}

/** A part of the list. */
export interface DeliveryPage {
  /** The next entries of the list. */
  results: Delivery[];
  /** Send this text as `after` to read the entries that follow. Null at the end of the list. A call examines at most 10,000 entries. So if few entries pass the filters, `results` may have fewer than `limit` entries or none, and `next` is not null. */
  next: string | null;
}

/** A dish, and if it can be ordered. */
export interface DishAvailability {
  /** The `sku` of the dish. */
  sku: string;
  /** True if the dish can be ordered. */
  is_active: boolean;
}

/** The fields to change, at least one. All other fields stay as they are. */
export interface DishChange {
  /** The name of the dish. */
  name?: string;
  /** A description of the dish for guests. */
  description?: string;
  /** The diet that the dish suits. Empty or null if unknown. */
  dish_type?: 'veg' | 'non_veg' | 'halal' | 'vegan' | 'gluten_free' | 'sugar_free' | '' | null;
  /** The price of the dish without a variant, in the currency of the tenant. It has decimals only if the currency has some. */
  price?: string;
  /** False if the dish is off the menu, so that it is not listed and cannot be ordered. */
  is_active?: boolean;
  /** True if the extra tax is added to the price. */
  is_taxable?: boolean;
  /** The extra tax in percent, added to the price. */
  extra_tax_percentage?: string;
  /** The http or https URL of a picture of the dish. Null if it has no picture. */
  image?: string | null;
  /** The name of the category. It must be in `categories`. */
  category?: string;
  /** The name of the sub-menu. If it is missing, `Default`. */
  sub_menu?: string;
  /** The name of the kitchen. If it is missing, `Default`. */
  kitchen?: string;
  /** The name of the menu set. If it is missing, `Default`. */
  menu_set?: string;
  /** The variants of the dish. The list replaces the stored variants. */
  price_variants?: VariantDocument[];
  /** The add-ons of the dish. The list replaces the stored add-ons. */
  addons?: AddonDocument[];
  /** The ingredients of the dish. Only staff see the ingredients, not partners. */
  ingredients?: string[];
}

/** A dish of the menu. */
export interface DishDocument {
  /** The key of the dish. Partners order the dish by it. */
  sku: string;
  /** The name of the dish. */
  name: string;
  /** A description of the dish for guests. */
  description?: string;
  /** The diet that the dish suits. Empty or null if unknown. */
  dish_type?: 'veg' | 'non_veg' | 'halal' | 'vegan' | 'gluten_free' | 'sugar_free' | '' | null;
  /** The price of the dish without a variant, in the currency of the tenant. It has decimals only if the currency has some. */
  price: string;
  /** False if the dish is off the menu, so that it is not listed and cannot be ordered. */
  is_active?: boolean;
  /** True if the extra tax is added to the price. */
  is_taxable?: boolean;
  /** The extra tax in percent, added to the price. */
  extra_tax_percentage?: string;
  /** The http or https URL of a picture of the dish. Null if it has no picture. */
  image?: string | null;
  /** The name of the category. It must be in `categories`. */
  category: string;
  /** The name of the sub-menu. If it is missing, `Default`. */
  sub_menu?: string;
  /** The name of the kitchen. If it is missing, `Default`. */
  kitchen?: string;
  /** The name of the menu set. If it is missing, `Default`. */
  menu_set?: string;
  /** The variants of the dish. The list replaces the stored variants. */
  price_variants?: VariantDocument[];
  /** The add-ons of the dish. The list replaces the stored add-ons. */
  addons?: AddonDocument[];
  /** The ingredients of the dish. Only staff see the ingredients, not partners. */
  ingredients?: string[];
}

/** A screen that acts for the tenant without a person. */
export interface Display {
  /** The id of the display. */
  id: string;
  /** The label of the display. Lists of changes show it as the name of the display. */
  label: string;
  /** The parts of the staff API that the person or display may use. `orders`: orders and pauses. `menu`: the menu. `hotel`: stays and the calendar. `rates`: changes of prices and restrictions. `deliveries`: deliveries and events. An owner has all areas. */
  areas: ('orders' | 'menu' | 'hotel' | 'rates' | 'deliveries')[];
  /** The time at which the owner added the display. */
  created_at: string;
  /** The time of the last call of the display, up to a minute late. Null if the display was not paired yet. */
  last_used_at: string | null;
}

/** The label and the areas of the new display. */
export interface DisplayCreate {
  /** The label of the display. Lists of changes show it as the name of the display. */
  label: string;
  /** The parts of the staff API that the person or display may use. `orders`: orders and pauses. `menu`: the menu. `hotel`: stays and the calendar. `rates`: changes of prices and restrictions. `deliveries`: deliveries and events. An owner has all areas. */
  areas: ('orders' | 'menu' | 'hotel' | 'rates' | 'deliveries')[];
}

/** The code of the display. */
export interface DisplayPairing {
  /** The pairing code. Lower case, spaces and hyphens make no difference. */
  pairing_code: string;
}

/** The order or the reservation that the event reports. */
export interface EventSubject {
  /** The kind of object that the event reports. */
  type: 'order' | 'reservation';
  /** The id of the order or the reservation in Roomservice. */
  id: string;
  /** The platform's id of the order or the reservation. */
  external_id: string;
}

/** A receiver of a partner whose last attempt failed. */
export interface FailingReceiver {
  /** The credential to whose webhook URL the deliveries go. */
  credential_id: string;
  /** The label of the credential. It may be empty. */
  label: string;
  /** The time of the first attempt that failed after the last successful one, as far as the last attempts show it. */
  since: string;
  /** The time of the last attempt. */
  last_attempt_at: string;
  /** The HTTP status of the last response. Null if the receiver did not answer. */
  http_status: number | null;
  /** The reason why the last attempt failed. */
  error: string;
  /** The number of deliveries that wait for an attempt, at most 10,000. */
  waiting: number;
}

/** The state of the delivery of this event. */
export interface FeedDelivery {
  /** `pending`: the delivery waits for its next attempt. `delivered`: the receiver answered 2xx. `failed`: the fifth attempt failed, and the service does not try again. `stopped`: the credential was revoked, or its webhook URL was removed. */
  status: 'pending' | 'delivered' | 'failed' | 'stopped';
  /** All attempts, oldest first. There are at most five. */
  attempts: DeliveryAttempt[];
}

/** An event and the state of its delivery. */
export interface FeedEntry {
  /** Position of the event in the feed. Keep this text unchanged. */
  cursor: string;
  /** The name of the event. */
  event: 'order.status_changed' | 'reservation.created' | 'reservation.modified' | 'reservation.cancelled';
  /** The id of the event. It is the same in the delivery. */
  event_id: string;
  /** The time of the event. */
  occurred_at: string;
  /** The order or reservation and its new status. */
  data: OrderEventData | ReservationEventData;
  /** Null if no webhook was registered when the event happened. */
  delivery: FeedDelivery | null;
}

/** The credential's events after the cursor. */
export interface FeedPage {
  /** The events, oldest first. Empty if there are no new events. */
  results: FeedEntry[];
  /** Send this as `after` in the next call, also if `results` is empty. */
  next: string;
}

/** The first steps of a new house. */
export interface FirstSteps {
  /** True if a credential of a partner was issued. */
  has_partner: boolean;
  /** True if a partner has registered a webhook URL. */
  has_webhook: boolean;
  /** True if a partner has placed an order or booked a stay. */
  has_booking: boolean;
}

/** The deliveries of the events of one hour. */
export interface HealthHour {
  /** The beginning of the hour. */
  at: string;
  /** Number of deliveries that the receiver has accepted. */
  delivered: number;
  /** Number of deliveries whose fifth attempt has failed. */
  failed: number;
  /** Number of deliveries that wait for an attempt. */
  pending: number;
  /** Median duration of the attempts that the receiver has accepted, in milliseconds. Null if it has accepted no delivery. */
  p50_ms: number | null;
  /** Duration that 95 % of these attempts did not exceed, in milliseconds. Null if `p50_ms` is null. */
  p95_ms: number | null;
}

/** The stays of the hotel now. */
export interface HotelToday {
  /** The present day in the time zone of the tenant. */
  date: string;
  /** The number of stays that begin today, without those that are cancelled or that the guests missed. */
  arrivals: number;
  /** The number of these stays whose guests have arrived. */
  arrived: number;
  /** The number of stays that end today. */
  departures: number;
  /** The number of these stays that are completed. */
  departed: number;
  /** The number of confirmed stays that began before today or whose guests have arrived, until they are completed. */
  in_house: number;
  /** The night that begins today and the 13 nights after it. */
  nights: {
    /** The day on which the night begins. */
    date: string;
    /** The number of rooms that reservations hold. */
    held: number;
    /** The number of rooms of all active room types. */
    capacity: number;
  }[];
}

/** A booking by the hotel itself, for example for a guest who walks in. */
export interface HouseBooking {
  /** An id that the caller makes for this booking. Several calls with one id book only one stay. */
  request_id: string;
  /** The id of a room type, from the list of properties. */
  room_type_id: string;
  /** The day of arrival. It must not be before yesterday in the time zone of the property. */
  check_in: string;
  /** The day of departure. It is after `check_in`, by at most 730 nights. */
  check_out: string;
  /** The number of guests. Without `overbook`, it is at most the room type's `max_occupancy`. */
  guests?: number;
  /** The guest for whom the stay is booked. */
  guest: {
    /** The name of the guest. */
    name: string;
    /** The telephone number of the guest. */
    phone?: string;
    /** The e-mail address of the guest. */
    email?: string;
  };
  /** The rate plan of the stay. If it is missing, the cheapest active rate plan that allows the stay applies. */
  rate_plan_id?: string;
  /** The price of the whole stay, 0 to 99999999.99 with at most two decimals, or with none if the currency of the tenant has none. It may be a string or a number. If it is missing, the rate plan gives the price. */
  total_amount?: string | number;
  /** True accepts the stay even if no room is left, if nights are closed, if the minimum stay is longer, or if there are too many guests. */
  overbook?: boolean;
}

/** A change of a stay that the hotel itself booked, or the early end of a stay. */
export interface HouseChange {
  /** The new room type. */
  room_type_id?: string;
  /** The new day of arrival. It must not be before yesterday in the time zone of the property. */
  check_in?: string;
  /** The new day of departure. It is after `check_in`, by at most 730 nights. If the change ends the stay early, it is not before today in the time zone of the property. */
  check_out?: string;
  /** The number of guests. Without `overbook`, it is at most the room type's `max_occupancy`. */
  guests?: number;
  /** The new details of the guest. A missing detail keeps its value. */
  guest?: {
    /** The name of the guest. */
    name?: string;
    /** Null removes the number. */
    phone?: string | null;
    /** Null removes the address. */
    email?: string | null;
  };
  /** The new price of the whole stay. If it is missing and the nights or the room type change, the service calculates the price again. It takes the rate plan of the stay, if this plan allows the new stay, and otherwise the cheapest one. If the change ends the stay early, the price stays. */
  total_amount?: string | number;
  /** The `changed_at` that the caller has seen. If the stay has changed since, the response is 409. */
  expected_changed_at?: string;
  /** True accepts the stay even if no room is left, if nights are closed, if the minimum stay is longer, or if there are too many guests. */
  overbook?: boolean;
}

/** A credential of a partner, without its secret. */
export interface IntegrationCredential {
  /** The id of the credential. Revoking and rotating need it. */
  id: string;
  /** The name that the owner gave to the credential. Empty if the owner gave no name. */
  label: string;
  /** The API key, shortened to its first 8 characters, `…` and its last 4 characters. The responses that issue or rotate the credential show the whole key. The key stays the same when the secret is rotated. */
  api_key: string;
  /** The URL that the partner registered to receive events. Empty if the partner registered no URL. */
  webhook_url: string;
  /** False if the credential is revoked. A revoked credential stays revoked. */
  is_active: boolean;
  /** The time when the credential was created. */
  created_at: string | null;
  /** The time of the last call with the credential, up to a minute late. Null before the first call. */
  last_used_at: string | null;
  /** The time when the secret was last replaced. Null if it was never replaced. */
  last_rotated_at: string | null;
}

/** The label of a new credential. */
export interface IntegrationCredentialCreate {
  /** A name for the credential, so that the owner can tell credentials apart. It has no other effect. */
  label?: string;
}

/** One page of the list. */
export interface IntegrationCredentialPage {
  /** Number of entries in the whole list. */
  count: number;
  /** URL of the next page, or null on the last page. */
  next: string | null;
  /** URL of the previous page, or null on the first page. */
  previous: string | null;
  /** The entries of this page. */
  results: IntegrationCredential[];
}

/** API key and API secret of a credential. Give both to the partner. */
export interface IntegrationCredentialSecretResponse {
  /** The id of the credential. */
  id: string;
  /** The label of the credential. */
  label: string;
  /** The whole API key, which identifies the credential. Lists show it shortened. */
  api_key: string;
  /** The API secret. Only this response shows it. */
  api_secret: string;
}

/** The invited person, with the link. */
export interface Invitation {
  person: Person;
  /** The link with which the person chooses a password. It works once. No other response shows it. */
  invite_url: string;
  /** The time at which the link ends: after 3 days. */
  expires_at: string;
}

/** The kitchen that prepares the dish. */
export interface Kitchen {
  /** The id of the kitchen. It stays the same if the name stays the same. */
  id: string;
  /** The name of the kitchen. */
  name: string;
  /** A description of the kitchen. It may be empty. */
  description: string;
  /** The hotel that the kitchen belongs to. Null if unknown. */
  hotel_id: string | null;
  /** The place where the kitchen keeps its stock. Null if unknown. */
  stock_location_id: string | null;
  /** The time when this part was added to the menu. */
  created_at: string;
  /** The time when this part of the menu last changed. */
  updated_at: string;
}

/** A kitchen that prepares dishes. */
export interface KitchenDocument {
  /** The name of the kitchen. Dishes refer to the kitchen by this name. */
  name: string;
  /** A description of the kitchen. */
  description?: string;
}

/** The token of an invitation or a reset, and the password that the person chooses. */
export interface LinkPassword {
  /** The token of the link: the text after `#invite=` or `#reset=`. */
  token: string;
  /** The new password. */
  new_password: string;
}

/** The caller, with the tenant, the session and the service. */
export interface Me {
  /** The person who calls. Null for a display. */
  person: {
    /** The id of the person. */
    id: string;
    /** The name of the person, as other people of the tenant see it. Null if the person has no name. */
    name: string | null;
    /** The e-mail address that the person signs in with. */
    email: string;
    /** An owner may call all operations. Staff may call the operations of their areas. They may not read or change credentials, channels or the audit trail. */
    role: 'owner' | 'staff';
    /** The parts of the staff API that the person or display may use. `orders`: orders and pauses. `menu`: the menu. `hotel`: stays and the calendar. `rates`: changes of prices and restrictions. `deliveries`: deliveries and events. An owner has all areas. */
    areas: ('orders' | 'menu' | 'hotel' | 'rates' | 'deliveries')[];
    /** The language that the person has chosen, as a BCP 47 tag. Null if the person has chosen no language. */
    language: string | null;
  } | null;
  /** The display that calls. Null for a person. */
  display: {
    /** The id of the display. */
    id: string;
    /** The label that the owner gave to the display. */
    label: string;
    /** The parts of the staff API that the person or display may use. `orders`: orders and pauses. `menu`: the menu. `hotel`: stays and the calendar. `rates`: changes of prices and restrictions. `deliveries`: deliveries and events. An owner has all areas. */
    areas: ('orders' | 'menu' | 'hotel' | 'rates' | 'deliveries')[];
  } | null;
  /** The tenant of the caller. Every call acts for this tenant. */
  tenant: {
    /** The number of the tenant. */
    id: number;
    /** The short name of the tenant. */
    slug: string;
    /** The display name of the tenant. */
    name: string;
    /** The currency of every amount, as three letters of ISO 4217. */
    currency: string;
    /** The IANA name of the time zone. */
    timezone: string;
    /** The features of the tenant. */
    features: ('restaurant' | 'hotel')[];
  };
  /** The session or the token of this call. */
  session: {
    /** The id of the session. Null for a token. */
    id: string | null;
    /** `person` or `display`: the call came with a session cookie. `token`: the call came with a bearer token. */
    kind: 'person' | 'display' | 'token';
    /** The end of the session if it is not used again after this call, or the end of the token. */
    expires_at: string;
  };
  /** Facts about the service. */
  service: {
    /** The time of this call by the clock of the database. */
    now: string;
    /** The version of the service. */
    version: string;
    /** True for the demo tenant, whose orders and reservations a simulated staff also changes. */
    sandbox: boolean;
    /** The number of days for which events are kept. */
    event_retention_days: number;
    /** The number of calls that each partner may make in a minute. */
    rate_limit_per_minute: number;
    /** The brand in the header names of webhook deliveries. */
    webhook_header_brand: string;
  };
}

/** The fields that change. A missing field keeps its value. */
export interface MeChange {
  /** The name of the person for other people of the tenant. */
  name?: string;
  /** The language of the person, as a BCP 47 tag. */
  language?: string;
}

/** The dishes that the document would change. Changes of kitchens, categories, sub-menus and menu sets are not listed. */
export interface MenuComparison {
  /** The dishes that the tenant does not have yet. */
  added: string[];
  /** The dishes of the document that the tenant has already, and that get other values. */
  changed: {
    /** The `sku` of the dish. */
    sku: string;
    /** The names of the fields that get another value. A new place in the menu is not listed. */
    fields: string[];
  }[];
  /** The dishes that leave the menu: the document does not have them, or sets their `is_active` to false. In the second case, they are also in `changed`. */
  taken_off: string[];
}

/** The whole menu. The response contains all default values. */
export interface MenuDocument {
  /** The kitchens that prepare dishes. Each name must be unique. */
  kitchens?: KitchenDocument[];
  /** The categories that list dishes. Each name must be unique. */
  categories?: CategoryDocument[];
  /** The sub-menus, which are parts of the menu. Each name must be unique. */
  sub_menus?: SubMenuDocument[];
  /** The sets of sub-menus that are served together. Each name must be unique. */
  menu_sets?: MenuSetDocument[];
  /** All dishes, in the order in which the menu lists them. Each `sku` must be unique. */
  dishes: DishDocument[];
}

/** A set of sub-menus that are served together, for example in the evening. */
export interface MenuSet {
  /** The id of the menu set. It stays the same if the name stays the same. */
  id: string;
  /** The name of the menu set. */
  name: string;
  /** The time of day when the menu set is served. Orders are accepted at any time. */
  service: 'all_day' | 'breakfast' | 'lunch' | 'dinner';
  /** The status that the restaurant has set for the menu set. The dishes of an inactive menu set stay on the menu. */
  status: 'active' | 'inactive';
  /** The number of the restaurant or hotel that the menu belongs to. */
  tenant: number;
  /** The sub-menus of this menu set. */
  sub_menus: SubMenu[];
  /** The time when this part was added to the menu. */
  created_at: string;
  /** The time when this part of the menu last changed. */
  updated_at: string;
}

/** Sub-menus that are served together. */
export interface MenuSetDocument {
  /** The name of the menu set. Dishes refer to the menu set by this name. */
  name: string;
  /** The time of day when the menu set is served. Partners see this value, but it takes no dish off the menu. */
  service?: 'all_day' | 'breakfast' | 'lunch' | 'dinner';
  /** The status of the menu set. Partners see this value, but it takes no dish off the menu. */
  status?: 'active' | 'inactive';
  /** The names of the sub-menus in this menu set. */
  sub_menus?: string[];
}

/** One night of a room type. */
export interface Night {
  /** The number of rooms of the room type. */
  capacity: number;
  /** The number of rooms that are held in the night. It may exceed the capacity. */
  held: number;
  /** The stays that hold a room in the night, the newest booking first, at most 1,000. */
  stays: NightStay[];
  /** The newest 200 changes, the newest first. Prices, closures and capacities come from the newest 50 writes that concern the room type: of rates, restrictions, its capacity and tenant documents. A write that repeats the previous value is left out. */
  history: NightEntry[];
}

/** New values of one night under one rate plan. */
export interface NightChange {
  /** The rate plan. It may be inactive. */
  rate_plan_id: string;
  /** The day on which the night begins. It may be in the past. A call names each night of a plan at most once. */
  date: string;
  /** The new price of the night, as text with at most two decimals, or with none if the currency of the tenant has none. Null removes the own price, so that the `base_price` of the plan applies. A missing value keeps the price. */
  price?: string | null;
  /** True closes the plan for the night, and false opens it. A missing value changes nothing. */
  is_sold_out?: boolean;
  /** The values that the night must still have. If it has other values, the call is refused with 409 and changes no night. */
  expected?: {
    /** The own price of the night, as text. Null means the `base_price` of the plan. */
    price: string | null;
    /** True if the plan is closed for the night. */
    is_sold_out: boolean;
  };
}

/** A change that concerns the night. */
export interface NightEntry {
  /** The time of the change. */
  at: string;
  /** `booked`: a stay began to hold the night. `cancelled`: a stay was cancelled or has expired. `changed`: the dates or the room type of a stay changed. `price`: a price of the night was written. `stop_sell`: the night was closed or opened for sale. `capacity`: the number of rooms of the room type changed. */
  what: 'booked' | 'cancelled' | 'changed' | 'price' | 'stop_sell' | 'capacity';
  /** The person or program that made the change. */
  by: {
    /** `person`: an owner or a member of the staff. `display`: a screen that is paired with the tenant. `partner`: a partner or a PMS. `channel`: a channel that sends OTA reservations. `operator`: a person who ran a command of the service. `sandbox`: the simulated staff of the demo tenant. */
    type: 'person' | 'display' | 'partner' | 'channel' | 'operator' | 'sandbox';
    /** The id of the person, display, credential or channel. Null for `operator` and `sandbox`. */
    id: string | null;
    /** The name of the person, or the e-mail address of a person without a name. For a display or a credential, the label. For a channel, the source. Null if the name is unknown. */
    name: string | null;
  };
  /** The number of rooms that were held after the change. */
  held_after: number;
}

/** The price and the restriction of one night under a rate plan. */
export interface NightState {
  /** The own price of the night. Null means the `base_price` of the plan. */
  price: string | null;
  /** True if the plan is closed for the night. */
  is_sold_out: boolean;
}

/** A stay that holds a room in the night. */
export interface NightStay {
  /** The Roomservice id of the reservation. */
  reservation_id: string;
  /** A short reference that people can read aloud. */
  natural_id: string;
  /** The present status of the reservation. */
  status: 'pending' | 'confirmed' | 'cancelled' | 'no_show' | 'completed' | 'expired';
  /** The source of the stay: a partner, an OTA or the hotel itself. */
  source: 'partner' | 'ota' | 'house';
  /** The name of the guest. */
  guest_name: string;
  /** The day of arrival. */
  check_in: string;
  /** The day of departure. */
  check_out: string;
}

/** The price of one night of a stay. */
export interface NightlyPrice {
  /** The day on which the night begins. */
  date: string;
  /** The price of the night. */
  price: string;
}

/** The unfinished orders of one status. */
export interface OpenOrders {
  /** The status of the orders. */
  status: 'pending' | 'confirmed' | 'preparing' | 'ready' | 'out_for_delivery';
  /** The number of orders with this status. */
  count: number;
  /** The time at which the order that waits longest got this status. Null if there is no such order. */
  oldest_at: string | null;
}

/** The opening hours of the restaurant. */
export interface OpeningHours {
  /** The opening times of a week, in the time zone of the tenant. The times may overlap. If the list is empty, the restaurant is always open. */
  hours: OpeningTime[];
}

/** A time of each week in which the restaurant is open. */
export interface OpeningTime {
  /** The day on which this time begins: 1 for Monday to 7 for Sunday. */
  weekday: number;
  /** The local time at which the restaurant opens. `HH:MM` in 24 hours. */
  opens: string;
  /** The local time at which the restaurant closes. If it is not after `opens`, the restaurant closes on the next day. `HH:MM` in 24 hours. */
  closes: string;
}

/** The order and its new status. */
export interface OrderEventData {
  /** The id of the order in Roomservice. */
  order_id: string;
  /** The platform's id of the order. */
  external_order_id: string;
  /** The new status of the order. */
  status: string;
}

/** A status of the order, with its time and the person or program that set it. */
export interface OrderHistoryEntry {
  /** The status that the order got. */
  status: 'pending' | 'confirmed' | 'preparing' | 'ready' | 'out_for_delivery' | 'completed' | 'cancelled';
  /** The time at which the order got this status. */
  at: string;
  /** The person or program that made the change. */
  by: {
    /** `person`: an owner or a member of the staff. `display`: a screen that is paired with the tenant. `partner`: a partner or a PMS. `channel`: a channel that sends OTA reservations. `operator`: a person who ran a command of the service. `sandbox`: the simulated staff of the demo tenant. */
    type: 'person' | 'display' | 'partner' | 'channel' | 'operator' | 'sandbox';
    /** The id of the person, display, credential or channel. Null for `operator` and `sandbox`. */
    id: string | null;
    /** The name of the person, or the e-mail address of a person without a name. For a display or a credential, the label. For a channel, the source. Null if the name is unknown. */
    name: string | null;
  };
}

/** A line of an order. It keeps its prices even if the menu changes later. */
export interface OrderLine {
  /** The sku of the ordered dish. */
  sku: string;
  /** The name of the dish when the order was placed. */
  name: string;
  /** The name of the variant. Null if the dish was ordered without a variant. */
  variant: string | null;
  /** The number of pieces. */
  quantity: number;
  /** The price of one piece without add-ons and extra tax. */
  unit_price: string;
  /** The add-ons of each piece. */
  addons: OrderLineAddon[];
  /** The extra tax in percent that `total` includes. `0.00` if the dish has no extra tax. */
  extra_tax_percentage: string;
  /** Quantity × (unit price + add-ons) plus the extra tax, rounded to two decimals. */
  total: string;
}

/** An add-on of a line. */
export interface OrderLineAddon {
  /** The name of the add-on. */
  name: string;
  /** The number of add-ons for each piece. */
  quantity: number;
  /** The price of one add-on. */
  price: string;
}

/** A change of the status of an order. */
export interface OrderStatusChange {
  /** The new status of the order. */
  status: 'pending' | 'confirmed' | 'preparing' | 'ready' | 'out_for_delivery' | 'completed' | 'cancelled';
  /** The status that the caller has seen. If the order has another status now, the change is refused with 409. */
  expected_status?: 'pending' | 'confirmed' | 'preparing' | 'ready' | 'out_for_delivery' | 'completed' | 'cancelled';
  /** An id that the caller makes for this change. It makes a repeat safe. If an earlier change of this order had the same id, the call changes nothing, and the response is 200 with the order as it is now. */
  request_id?: string;
  /** The reason of a cancellation, only with the status `cancelled`. Partners never see it. */
  reason?: string;
  /** The time at which staff expect the order to be ready. If it is missing, the order keeps its time. */
  ready_by?: string;
}

/** The orders of the restaurant now. */
export interface OrdersToday {
  /** The unfinished orders, one entry for each status. Only the newest 10,000 orders are counted. */
  open: OpenOrders[];
  /** The orders that have had their status for longer than the query allows, or whose `ready_by` has passed before they are ready. */
  late: {
    /** The number of orders that are late. */
    count: number;
    /** The time at which the one of them that waits longest got its status. Null if no order is late. */
    oldest_at: string | null;
  };
  /** The orders that were placed today. */
  today: {
    /** The present day in the time zone of the tenant. */
    date: string;
    /** The number of orders of this day that are not cancelled. */
    count: number;
    /** The sum of their totals in the currency of the tenant. */
    total: string;
  };
}

/** A night on which more rooms are held than the room type has. */
export interface OversoldNight {
  /** The room type. */
  room_type_id: string;
  /** The day on which the night begins. */
  date: string;
  /** The number of rooms of the room type. */
  capacity: number;
  /** The number of rooms that reservations hold. It is above `capacity`. */
  held: number;
}

/** A part of the list. */
export interface OversoldNightPage {
  /** The next entries of the list. */
  results: OversoldNight[];
  /** Send this text as `after` to read the entries that follow. Null at the end of the list. A call examines at most 10,000 entries. So if few entries pass the filters, `results` may have fewer than `limit` entries or none, and `next` is not null. */
  next: string | null;
}

/** A night on which more rooms are held than the room type has. */
export interface OversoldToday {
  /** The room type. */
  room_type_id: string;
  /** The name of the room type. */
  room_type: string;
  /** The day on which the night begins. */
  date: string;
  /** The number of rooms of the room type. */
  capacity: number;
  /** The number of rooms that reservations hold. It is above `capacity`. */
  held: number;
}

/** A partner with its last use, and with the results of its deliveries of the last 24 hours. Of all partners together, only the newest 10,000 deliveries are counted. */
export interface PartnerToday {
  /** The credential of the partner. */
  credential_id: string;
  /** The label of the credential. It may be empty. */
  label: string;
  /** The time of the last call with the credential. Null if there was no call. */
  last_used_at: string | null;
  /** True if a webhook URL is registered. */
  has_webhook: boolean;
  /** The number of deliveries of the last 24 hours that the receiver has accepted. */
  delivered: number;
  /** The number of deliveries of the last 24 hours of which every attempt until now has failed. */
  undelivered: number;
}

/** The current and the new password. */
export interface PasswordChange {
  /** The password of the person now. */
  current_password: string;
  /** The new password. */
  new_password: string;
}

/** The person, with the link. */
export interface PasswordReset {
  person: Person;
  /** The link with which the person chooses a new password. It works once. No other response shows it. If the person is still invited, the link is a new invitation. */
  reset_url: string;
  /** The time at which the link ends: after 3 days. */
  expires_at: string;
}

/** A pause in which the restaurant takes no new orders. */
export interface PauseStart {
  /** The end of the pause, in the future. If it is missing, the pause lasts until staff end it. */
  until?: string;
  /** The reason, for the people of the tenant. Partners never see it. */
  reason?: string;
}

/** The state of the restaurant now: open or closed, with its pause. */
export interface PauseState {
  /** True if the restaurant takes orders now. False during a pause, and outside the opening hours. */
  is_open: boolean;
  /** The end of the pause. Null if there is no pause, or if the pause lasts until staff end it. */
  until: string | null;
  /** The reason of the pause. Null if there is no pause, or if staff gave no reason. */
  reason: string | null;
  /** The time at which the restaurant opens: the first opening time that is not before the end of the pause. Null if the restaurant is open, or if the pause lasts until staff end it. */
  reopens_at: string | null;
}

/** An owner or a member of the staff. */
export interface Person {
  /** The id of the person. */
  id: string;
  /** The name of the person, as other people of the tenant see it. Null if the person has no name. */
  name: string | null;
  /** The e-mail address that the person signs in with, in lower case. */
  email: string;
  /** An owner may call all operations. Staff may call the operations of their areas. They may not read or change credentials, channels or the audit trail. */
  role: 'owner' | 'staff';
  /** The parts of the staff API that the person or display may use. `orders`: orders and pauses. `menu`: the menu. `hotel`: stays and the calendar. `rates`: changes of prices and restrictions. `deliveries`: deliveries and events. An owner has all areas. */
  areas: ('orders' | 'menu' | 'hotel' | 'rates' | 'deliveries')[];
  /** False if the account is disabled. The person then cannot sign in. */
  is_active: boolean;
  /** True if the person has not accepted the invitation yet. Until then, the person cannot sign in. */
  is_invited: boolean;
  /** The time at which the person was added. */
  created_at: string;
  /** The time of the last call of the person, up to a minute late. Null if there was no call. */
  last_seen_at: string | null;
}

/** The fields that change. A missing field keeps its value. */
export interface PersonChange {
  /** The name of the person for other people of the tenant. */
  name?: string;
  /** An owner may call all operations. Staff may call the operations of their areas. They may not read or change credentials, channels or the audit trail. */
  role?: 'owner' | 'staff';
  /** The parts of the staff API that the person may use. An owner may always use all parts. */
  areas?: ('orders' | 'menu' | 'hotel' | 'rates' | 'deliveries')[];
  /** False disables the account. This ends all sessions, tokens and links of the person. */
  is_active?: boolean;
}

/** The person to invite. */
export interface PersonInvite {
  /** The e-mail address that the person will sign in with. Upper and lower case make no difference. */
  email: string;
  /** The name of the person for other people of the tenant. */
  name?: string;
  /** An owner may call all operations. Staff may call the operations of their areas. They may not read or change credentials, channels or the audit trail. */
  role: 'owner' | 'staff';
  /** The parts of the staff API that the person may use. Without this field, a member of the staff may use no part. An owner may always use all parts. */
  areas?: ('orders' | 'menu' | 'hotel' | 'rates' | 'deliveries')[];
}

/** A credential of a property management system, without its secret. */
export interface PmsCredential {
  /** The id of the credential. Revoking and rotating need it. */
  id: string;
  /** The name that the owner gave to the credential. Empty if the owner gave no name. */
  label: string;
  /** The API key, shortened to its first 8 characters, `…` and its last 4 characters. The responses that issue or rotate the credential show the whole key. The key stays the same when the secret is rotated. */
  api_key: string;
  /** False if the credential is revoked. A revoked credential stays revoked. */
  is_active: boolean;
  /** The time when the credential was created. */
  created_at: string | null;
  /** The time of the last call with the credential, up to a minute late. Null before the first call. */
  last_used_at: string | null;
  /** The time when the secret was last replaced. Null if it was never replaced. */
  last_rotated_at: string | null;
}

/** The label of a new credential. */
export interface PmsCredentialCreate {
  /** A name for the credential, so that the owner can tell credentials apart. It has no other effect. */
  label?: string;
}

/** API key and API secret of a credential. Enter both in the property management system. */
export interface PmsCredentialSecret {
  /** The id of the credential. */
  id: string;
  /** The label of the credential. */
  label: string;
  /** The whole API key, which identifies the credential. Lists show it shortened. */
  api_key: string;
  /** The API secret. Only this response shows it. */
  api_secret: string;
}

/** A size or kind of the dish, with its own price. */
export interface PriceVariant {
  /** The id of the variant. Send it as `variant_id` in an order. It stays the same if dish and name stay the same. */
  id: string;
  /** The name of the variant. */
  name: string;
  /** The price of one piece in this variant. It replaces the price of the dish. */
  price: string;
  /** The currency of the price, as three letters of ISO 4217. */
  currency: string;
}

/** New prices and restrictions of nights, under one or several rate plans. */
export interface RateChanges {
  /** One entry for each night of each rate plan. All entries are written, or none. */
  changes: NightChange[];
  /** True makes all checks and returns what would change, but changes nothing. */
  dry_run?: boolean;
}

/** A rate plan, under which a room type is sold. */
export interface RatePlan {
  /** The id of the plan. Calls for rates and restrictions take it as `rate_plan_id`. */
  id: string;
  /** The name of the plan, unique within the room type. */
  name: string;
  /** The price of each night that has no price of its own, in the currency of the tenant. */
  base_price: string;
  /** True if the guest gets the money back after a cancellation. */
  is_refundable: boolean;
  /** The shortest stay that can be booked under the plan, in nights. */
  min_nights: number;
}

/** The fields to change, at least one. A missing field keeps its value. */
export interface RatePlanChange {
  /** The price of each night that has no price of its own, as text with at most two decimals, or with none if the currency of the tenant has none. */
  base_price?: string;
  /** The shortest stay that can be booked under the plan, in nights. */
  min_nights?: number;
}

/** The real differences that the call made, or that a dry run would make. */
export interface RatesChanged {
  /** The nights whose values differ from before, in the order of the call. Other nights are left out. */
  changed: ChangedNight[];
}

/** A call with a valid secret that the service refused. */
export interface RefusedCall {
  /** The id of the refused call. */
  id: string;
  /** The time of the refusal. */
  at: string;
  /** The HTTP method of the call. */
  method: string;
  /** The path of the operation, with the names of its parameters in place of their values. */
  path: string;
  /** The HTTP status of the response, from 400 to 499. */
  status: number;
  /** The `code` of the response. */
  code: string;
  /** The `message` of the response. It is cut after 500 characters. If it contained a secret, the secret is left out. */
  message: string;
  /** The `X-Request-Id` of the response. The log has the same id. */
  request_id: string;
}

/** The reservation and its new status. */
export interface ReservationEventData {
  /** The id of the reservation in Roomservice. */
  reservation_id: string;
  /** The platform's id of the reservation. */
  external_reservation_id: string;
  /** The new status of the reservation. */
  status: string;
}

/** A change of status. */
export interface ReservationStatusChange {
  /** The new status of the reservation. */
  status: 'pending' | 'confirmed' | 'cancelled' | 'no_show' | 'completed' | 'expired';
  /** An id that the caller makes for this change. It makes a repeat safe. If the last change of the status had the same id, the call changes nothing, and the response is 200 with the reservation as it is now. The service compares this id before it checks any other field. */
  request_id?: string;
  /** The status that the caller has seen. If the reservation has another status now, the response is 409. */
  expected_status?: 'pending' | 'confirmed' | 'cancelled' | 'no_show' | 'completed' | 'expired';
  /** The reason for the change. Only staff see it, in the history. It is never in an event. */
  reason?: string;
}

/** The booking, or a change of the status. */
export interface ReservationStep {
  /** The status of the reservation from this time. */
  status: 'pending' | 'confirmed' | 'cancelled' | 'no_show' | 'completed' | 'expired';
  /** The time of the booking or of the change. */
  at: string;
  /** The person or program that made the change. */
  by: {
    /** `person`: an owner or a member of the staff. `display`: a screen that is paired with the tenant. `partner`: a partner or a PMS. `channel`: a channel that sends OTA reservations. `operator`: a person who ran a command of the service. `sandbox`: the simulated staff of the demo tenant. */
    type: 'person' | 'display' | 'partner' | 'channel' | 'operator' | 'sandbox';
    /** The id of the person, display, credential or channel. Null for `operator` and `sandbox`. */
    id: string | null;
    /** The name of the person, or the e-mail address of a person without a name. For a display or a credential, the label. For a channel, the source. Null if the name is unknown. */
    name: string | null;
  };
  /** The reason that staff gave. It is never in an event. Null if no reason was given. */
  reason: string | null;
}

/** The fields to change, at least one. */
export interface RoomTypeChange {
  /** The number of rooms of this type in the building. */
  physical_capacity?: number;
}

/** The key with the new secret, and the end of the replaced secret. */
export interface RotatedCredential {
  /** The id of the credential. */
  id: string;
  /** The label of the credential. */
  label: string;
  /** The whole API key, which identifies the credential. Lists show it shortened. */
  api_key: string;
  /** The API secret. Only this response shows it. */
  api_secret: string;
  /** The time until which the replaced secret works. With an overlap of 0, this is the time of the rotation. */
  previous_secret_ends_at: string;
}

/** A session of a person or a display in a browser. */
export interface Session {
  /** The id of the session. The call that ends the session needs it. */
  id: string;
  /** The id of the person. Null for a display. */
  person_id: string | null;
  /** The id of the display. Null for a person. */
  display_id: string | null;
  /** The kind of caller that has the session. */
  kind: 'person' | 'display';
  /** The time of the sign-in. */
  created_at: string;
  /** The time of the last call, up to a minute late. */
  last_used_at: string;
  /** The client address of the sign-in. */
  address: string;
  /** The header `User-Agent` of the sign-in, or its beginning. May be empty. */
  user_agent: string;
  /** True for the session of this call. */
  is_current: boolean;
}

/** E-mail and password. Both are left out beside a bearer token of the identity provider. */
export interface SessionStart {
  /** The e-mail address of the account. Upper and lower case make no difference. */
  email?: string;
  /** The password of the account. */
  password?: string;
}

/** E-mail and password of the user who signs in. */
export interface SignInRequest {
  /** The e-mail address of the account. Upper and lower case make no difference. */
  email: string;
  /** The password of the account. */
  password: string;
}

/** An access token, with the role and the tenant that it is for. */
export interface SignInResponse {
  /** A JWT. Send it as `Authorization: Bearer <access_token>`. */
  access_token: string;
  /** Always `Bearer`. */
  token_type: 'Bearer';
  /** The lifetime of the token in seconds: 8 hours. Then sign in again. */
  expires_in: number;
  /** An owner may call all operations. Staff may call the operations of their areas. They may not read or change credentials, channels or the audit trail. */
  role: 'owner' | 'staff';
  /** The tenant of the account. Every call with the token acts for this tenant. */
  tenant: {
    /** The number of the tenant. */
    id: number;
    /** The display name of the tenant. */
    name: string;
    /** The features of the tenant. */
    features: ('restaurant' | 'hotel')[];
  };
}

/** The calendar of a property. Each list of nights has one value for each night, from `from` to the night before `to`. */
export interface StaffCalendar {
  /** The first night of the calendar. */
  from: string;
  /** The day after the last night. */
  to: string;
  /** The current day in the time zone of the property. */
  today: string;
  /** The active room types of the property, in the order of the tenant document. */
  room_types: CalendarRoomType[];
}

/** The credential of a partner, and the state of its deliveries. */
export interface StaffCredential {
  /** The id of the credential. Revoking and rotating need it. */
  id: string;
  /** The name that the owner gave to the credential. Empty if the owner gave no name. */
  label: string;
  /** The API key, shortened to its first 8 characters, `…` and its last 4 characters. The responses that issue or rotate the credential show the whole key. The key stays the same when the secret is rotated. */
  api_key: string;
  /** The URL that the partner registered to receive events. Empty if the partner registered no URL. */
  webhook_url: string;
  /** False if the credential is revoked. A revoked credential stays revoked. */
  is_active: boolean;
  /** The time when the credential was created. */
  created_at: string | null;
  /** The time of the last call with the credential, up to a minute late. Null before the first call. */
  last_used_at: string | null;
  /** The time when the secret was last replaced. Null if it was never replaced. */
  last_rotated_at: string | null;
  deliveries: CredentialDeliveries;
}

/** A credential with its deliveries, its budget of calls and its last 24 hours. */
export interface StaffCredentialDetail {
  /** The id of the credential. Revoking and rotating need it. */
  id: string;
  /** The name that the owner gave to the credential. Empty if the owner gave no name. */
  label: string;
  /** The API key, shortened to its first 8 characters, `…` and its last 4 characters. The responses that issue or rotate the credential show the whole key. The key stays the same when the secret is rotated. */
  api_key: string;
  /** The URL that the partner registered to receive events. Empty if the partner registered no URL. */
  webhook_url: string;
  /** False if the credential is revoked. A revoked credential stays revoked. */
  is_active: boolean;
  /** The time when the credential was created. */
  created_at: string | null;
  /** The time of the last call with the credential, up to a minute late. Null before the first call. */
  last_used_at: string | null;
  /** The time when the secret was last replaced. Null if it was never replaced. */
  last_rotated_at: string | null;
  deliveries: CredentialDeliveries;
  budget: CredentialBudget;
  health: CredentialHealth;
}

/** A dish as staff see it, on the menu or not, with its ingredients and its inactive add-ons. */
export interface StaffDish {
  /** The id of the dish in Roomservice. An order needs the `sku` instead. */
  id: string;
  /** The key of the dish. Send it as `item_id` in an order. */
  sku: string;
  /** The name of the dish. */
  name: string;
  /** A description of the dish for guests. It may be empty. */
  description: string;
  /** The diet that the dish or add-on suits. Empty or null if unknown. */
  dish_type: 'veg' | 'non_veg' | 'halal' | 'vegan' | 'gluten_free' | 'sugar_free' | '' | null;
  /** The price of one piece without variant and add-ons. */
  price: string;
  /** The currency of the whole menu, as three letters of ISO 4217. */
  currency: string;
  /** True if the dish can be ordered. */
  is_active: boolean;
  /** True if `extra_tax_percentage` is added to the price in an order. */
  is_taxable: boolean;
  /** The extra tax in percent, added to the price. */
  extra_tax_percentage: string;
  /** The URL of a picture. Null if there is no picture. */
  image: string | null;
  category: Category;
  sub_menu: SubMenu;
  kitchen: Kitchen;
  menu_set: MenuSet;
  /** The variants of the dish. Empty if the dish has no variants. */
  price_variants: PriceVariant[];
  /** The add-ons that can be ordered with the dish. */
  addons: AddOnDish[];
  /** The ingredients of the dish, as texts. */
  ingredients: string[];
}

/** An event of any partner, and the state of its delivery. */
export interface StaffEvent {
  /** The id of the event. It is the same in the delivery. */
  event_id: string;
  /** The name of the event. */
  event: 'order.status_changed' | 'reservation.created' | 'reservation.modified' | 'reservation.cancelled';
  /** The time of the event. */
  occurred_at: string;
  /** The order or reservation and its new status. */
  data: OrderEventData | ReservationEventData;
  /** The id of the credential that the event belongs to. */
  credential_id: string;
  /** Null if no webhook was registered when the event happened. */
  delivery: FeedDelivery | null;
}

/** A part of the list. */
export interface StaffEventPage {
  /** The next entries of the list. */
  results: StaffEvent[];
  /** Send this text as `after` to read the entries that follow. Null at the end of the list. A call examines at most 10,000 entries. So if few entries pass the filters, `results` may have fewer than `limit` entries or none, and `next` is not null. */
  next: string | null;
}

/** An order of any partner, with its lines, as staff see it. */
export interface StaffOrder {
  /** The id of the order in Roomservice. */
  order_id: string;
  /** The partner's own id of the order. */
  external_order_id: string;
  /** The current status of the order. */
  status: 'pending' | 'confirmed' | 'preparing' | 'ready' | 'out_for_delivery' | 'completed' | 'cancelled';
  /** The way in which the food reaches the guest. */
  order_type: 'delivery' | 'take_away' | 'pick_up';
  /** The guest who gets the order. */
  customer: {
    /** The name of the guest. Null if the partner sent no name. */
    name: string | null;
    /** The telephone number of the guest. Null if the partner sent no number. */
    phone: string | null;
  };
  /** The address of a delivery. Null if the partner sent no address. */
  delivery_address: string | null;
  /** Notes for the kitchen. Null if the partner sent no notes. */
  notes: string | null;
  /** The lines of the order, one for each item. */
  lines: OrderLine[];
  /** The sum of the totals of all lines. */
  total: string;
  /** The currency of all amounts, as three letters of ISO 4217. */
  currency: string;
  /** The time when the order was placed. */
  created_at: string;
  /** Four characters for calling out the order, such as `7K2M`. Two orders may have the same number. */
  number: string;
  /** The id of the credential that placed the order. */
  credential_id: string;
  /** The label of this credential. It may be empty. */
  credential_label: string;
  /** The time at which the order got its current status. */
  status_changed_at: string;
  /** The time at which staff expect the order to be ready. Null if staff gave no time. */
  ready_by: string | null;
  /** The reason that staff gave for the cancellation. Partners never see it. Null if staff gave no reason, or if the order is not cancelled. */
  cancel_reason: string | null;
  /** All statuses of the order, oldest first. Only the response to a read of one order has this field. */
  history?: OrderHistoryEntry[];
}

/** A part of the list. */
export interface StaffOrderPage {
  /** The next entries of the list. */
  results: StaffOrder[];
  /** Send this text as `after` to read the entries that follow. Null at the end of the list. A call examines at most 10,000 entries. So if few entries pass the filters, `results` may have fewer than `limit` entries or none, and `next` is not null. */
  next: string | null;
}

/** A property with its time zone, its check-in and check-out times and its room types. */
export interface StaffProperty {
  /** The id of the property. */
  id: string;
  /** The name of the property, unique within the tenant. */
  name: string;
  /** The street and number of the property. It may be empty. */
  address: string;
  /** The city of the property. It may be empty. */
  city: string;
  /** The country of the property, as two letters of ISO 3166. */
  country_code: string;
  /** The IANA name of the time zone of the property. */
  timezone: string;
  /** The time from which rooms are ready on the day of arrival, as HH:MM in the time zone of the property. */
  check_in_time: string;
  /** The time by which guests leave their rooms on the day of departure, as HH:MM in the time zone of the property. */
  check_out_time: string;
  /** The active room types of the property, in the order of the tenant document. */
  room_types: StaffRoomType[];
}

/** A reservation as staff see it. A partner, an OTA or the hotel itself booked it. */
export interface StaffReservation {
  /** The Roomservice id of the reservation. */
  reservation_id: string;
  /** A short reference that people can read aloud. */
  natural_id: string;
  /** The present status of the reservation. It holds its nights in every status except `cancelled` and `expired`. */
  status: 'pending' | 'confirmed' | 'cancelled' | 'no_show' | 'completed' | 'expired';
  /** `partner`: a partner booked the stay. `ota`: an OTA sold the stay. `house`: the hotel itself booked the stay. */
  source: 'partner' | 'ota' | 'house';
  /** The id of the credential of the partner. Null if no partner booked the stay. */
  credential_id: string | null;
  /** The label of the credential. Null if no partner booked the stay. */
  credential_label: string | null;
  /** The partner's own id of the reservation. Null if no partner booked it. */
  external_reservation_id: string | null;
  /** The name of the OTA that sold the stay. Null if it did not come from an OTA. */
  external_source: string | null;
  /** The OTA's own id of the reservation. Null if it did not come from an OTA. */
  external_id: string | null;
  /** The booked room type. */
  room_type_id: string;
  /** The rate plan of the stay. Null if the room type had no active rate plan. */
  rate_plan_id: string | null;
  /** The day of arrival. */
  check_in: string;
  /** The day of departure. */
  check_out: string;
  /** The number of guests. */
  guests: number;
  /** The guest of the stay. */
  guest: {
    /** The name of the guest. */
    name: string;
    /** The telephone number of the guest. Null if it is unknown. */
    phone: string | null;
    /** The e-mail address of the guest. Null if it is unknown. */
    email: string | null;
  };
  /** The price of the whole stay, as it was booked. */
  total_amount: string;
  /** The price of each night at the time of the booking. Their sum is `total_amount`. Null if the prices of the nights are unknown, because the caller gave only the amount of the whole stay, or because an OTA has changed it or staff have ended it early. */
  nightly_prices: NightlyPrice[] | null;
  /** The currency of the amount, as three letters of ISO 4217. */
  currency: string;
  /** The time of the booking. */
  created_at: string;
  /** The time of the last change of a field of this response. A new stay has the time of its booking. */
  changed_at: string;
  /** The time at which staff reported that the guests have arrived. Null if they have not arrived. */
  arrived_at: string | null;
}

/** A part of the list. */
export interface StaffReservationPage {
  /** The next entries of the list. */
  results: StaffReservation[];
  /** Send this text as `after` to read the entries that follow. Null at the end of the list. A call examines at most 10,000 entries. So if few entries pass the filters, `results` may have fewer than `limit` entries or none, and `next` is not null. */
  next: string | null;
}

/** A reservation as staff see it, with its history. */
export interface StaffReservationWithHistory {
  /** The Roomservice id of the reservation. */
  reservation_id: string;
  /** A short reference that people can read aloud. */
  natural_id: string;
  /** The present status of the reservation. It holds its nights in every status except `cancelled` and `expired`. */
  status: 'pending' | 'confirmed' | 'cancelled' | 'no_show' | 'completed' | 'expired';
  /** `partner`: a partner booked the stay. `ota`: an OTA sold the stay. `house`: the hotel itself booked the stay. */
  source: 'partner' | 'ota' | 'house';
  /** The id of the credential of the partner. Null if no partner booked the stay. */
  credential_id: string | null;
  /** The label of the credential. Null if no partner booked the stay. */
  credential_label: string | null;
  /** The partner's own id of the reservation. Null if no partner booked it. */
  external_reservation_id: string | null;
  /** The name of the OTA that sold the stay. Null if it did not come from an OTA. */
  external_source: string | null;
  /** The OTA's own id of the reservation. Null if it did not come from an OTA. */
  external_id: string | null;
  /** The booked room type. */
  room_type_id: string;
  /** The rate plan of the stay. Null if the room type had no active rate plan. */
  rate_plan_id: string | null;
  /** The day of arrival. */
  check_in: string;
  /** The day of departure. */
  check_out: string;
  /** The number of guests. */
  guests: number;
  /** The guest of the stay. */
  guest: {
    /** The name of the guest. */
    name: string;
    /** The telephone number of the guest. Null if it is unknown. */
    phone: string | null;
    /** The e-mail address of the guest. Null if it is unknown. */
    email: string | null;
  };
  /** The price of the whole stay, as it was booked. */
  total_amount: string;
  /** The price of each night at the time of the booking. Their sum is `total_amount`. Null if the prices of the nights are unknown, because the caller gave only the amount of the whole stay, or because an OTA has changed it or staff have ended it early. */
  nightly_prices: NightlyPrice[] | null;
  /** The currency of the amount, as three letters of ISO 4217. */
  currency: string;
  /** The time of the booking. */
  created_at: string;
  /** The time of the last change of a field of this response. A new stay has the time of its booking. */
  changed_at: string;
  /** The time at which staff reported that the guests have arrived. Null if they have not arrived. */
  arrived_at: string | null;
  /** The booking and the changes of the status, the oldest first, at most 200 changes. The booking of an OTA names the OTA, but not the id of its channel. */
  history: ReservationStep[];
}

/** A room type with its capacity and its active rate plans. */
export interface StaffRoomType {
  /** The id of the room type. */
  id: string;
  /** The name of the room type, unique within the property. */
  name: string;
  /** A text about the room type for guests. It may be empty. */
  description: string;
  /** The largest number of guests in one room. */
  max_occupancy: number;
  /** The price of one night if the room type has no active rate plan. Null means that no price is set. */
  base_price: string | null;
  /** The number of rooms of this room type. */
  physical_capacity: number;
  /** The names of the amenities in the room. */
  amenities: string[];
  /** The URLs of the pictures. */
  images: string[];
  /** The active rate plans of the room type. */
  rate_plans: RatePlan[];
}

/** A part of the menu, such as the kitchen or the bar. */
export interface SubMenu {
  /** The id of the sub-menu. It stays the same if the name stays the same. */
  id: string;
  /** The name of the sub-menu. */
  name: string;
  /** True if the restaurant has marked the sub-menu as active. The dishes of an inactive sub-menu stay on the menu. */
  is_active: boolean;
}

/** A part of the menu. */
export interface SubMenuDocument {
  /** The name of the sub-menu. Dishes and menu sets refer to the sub-menu by this name. */
  name: string;
  /** True if the sub-menu is active. Partners see this value. The dishes of an inactive sub-menu stay on the menu. */
  is_active?: boolean;
}

/** The response of the receiver to a test call. */
export interface TestCallOutcome {
  /** The HTTP status of the response. Null if no response was received. */
  http_status: number | null;
  /** Milliseconds until the status of the response was read, or until the call failed. */
  duration_ms: number;
  /** Reason why the call failed, as in the attempts of a delivery. Null if the receiver answered with a 2xx. `aborted`: the service stopped during the call. */
  error: string | null;
  /** The first 1,024 bytes of the body of the response, as text. Null if no response was received, or if the operator allows webhooks in private networks. */
  answer: string | null;
}

/** The state of the house now. */
export interface Today {
  /** The time at which the numbers were read. */
  at: string;
  /** The receivers that fail. Null for a caller without the area `deliveries`. */
  receivers: FailingReceiver[] | null;
  /** The first 50 oversold nights from today on. Null without a hotel, and for a caller without the area `hotel`. */
  oversold: OversoldToday[] | null;
  /** Null without a restaurant, and for a caller without the area `orders`. */
  orders: OrdersToday | null;
  /** Null without a hotel, and for a caller without the area `hotel`. */
  hotel: HotelToday | null;
  /** The active credentials of partners, at most 50, those with the latest use first. Null for a caller who is not an owner. */
  partners: PartnerToday[] | null;
  /** Null for a caller who is not an owner. */
  first_steps: FirstSteps | null;
}

/** The guests who come within a minute. */
export interface TrafficAnswer {
  /** The number of guests who try to order. */
  orders: number;
  /** The number of guests who try to book. */
  stays: number;
  /** The time by which the last of them has come. */
  until: string;
}

/** The guests to simulate. */
export interface TrafficRequest {
  /** The number of orders that guests place. */
  orders?: number;
  /** The number of stays that guests book. */
  stays?: number;
}

/** A size or kind of a dish, with its own price. */
export interface VariantDocument {
  /** The name of the variant, unique within the dish. */
  name: string;
  /** The price of the dish in this variant. It replaces the price of the dish. */
  price: string;
}

/** The URL to which events are sent. */
export interface WebhookRegister {
  /** HTTPS URL of at most 2,048 characters, without user name, password or fragment. The port is 443, or 1024 or above. */
  webhook_url: string;
}

/** The registered URL with its secret. */
export interface WebhookRegisterResponse {
  /** The URL that is registered now. */
  webhook_url: string;
  /** Secret that signs the deliveries. It is shown only once. It is empty if the same URL was already registered. */
  webhook_secret: string;
}

/** The token of the link that `serve --demo` printed. */
export interface WelcomeLink {
  /** The token of the link: the text after `#welcome=`. */
  token: string;
}

/** Parameters, request body and response of each operation, by operation id. */
export interface Operations {
  /** Sign in a display with its pairing code */
  pairDisplay: {
    body: DisplayPairing;
    answer: Me;
  };
  /** Choose a password with the link of an invitation or a reset */
  choosePassword: {
    body: LinkPassword;
    answer: Me;
  };
  /** Sign in with a session cookie */
  startSession: {
    body: SessionStart;
    answer: Me;
  };
  /** Sign out, which ends the session of the cookie */
  endOwnSession: {
    answer: null;
  };
  /** Sign in as owner or staff */
  signIn: {
    body: SignInRequest;
    answer: SignInResponse;
  };
  /** Sign in the owner of the demo with the link that the start printed */
  welcomeOwner: {
    body: WelcomeLink;
    answer: Me;
  };
  /** Read the audit trail, newest first */
  listAudit: {
    query?: {
      /** Maximum number of entries in the response: at most 100. The default is 50. */
      limit?: number;
      /** The `next` of the previous response. The response continues the list there. Send the same filters and the same order again. Without `after`, the response begins with the first entry. */
      after?: string;
      /** Lists only entries of this kind of action. An unknown kind gives an empty list. */
      action?: string;
      /** Lists only actions of the user, the display or the credential with this id. */
      actor_id?: string;
      /** Lists only entries with this subject. An unknown subject gives an empty list. */
      subject?: string;
      /** Lists only actions at this time or later. */
      from?: string;
      /** Lists only actions before this time. */
      to?: string;
    };
    answer: AuditEntryPage;
  };
  /** Read the rooms, prices and closed nights of a property, night by night */
  getCalendar: {
    query: {
      /** The property, from the list of properties. */
      property_id: string;
      /** The first night of the calendar. */
      from: string;
      /** The day after the last night. It is after `from`, by at most 400 nights. */
      to: string;
    };
    answer: StaffCalendar;
  };
  /** Watch for changes of the data of the tenant */
  watchChanges: {
    answer: null;
  };
  /** List the third-party credentials with the state of their deliveries */
  listStaffCredentials: {
    answer: StaffCredential[];
  };
  /** Read a credential with its budget of calls and its last 24 hours */
  getStaffCredential: {
    path: {
      /** The id of the credential, from the list of credentials. */
      id: string;
    };
    answer: StaffCredentialDetail;
  };
  /** Change the label of a credential */
  changeStaffCredential: {
    path: {
      /** The id of the credential, from the list of credentials. */
      id: string;
    };
    body: CredentialChange;
    answer: StaffCredentialDetail;
  };
  /** Read a partner's feed as the partner would */
  getPartnerFeed: {
    path: {
      /** The id of the credential, from the list of credentials. */
      id: string;
    };
    query?: {
      /** The `next` of the previous response. If it is missing or empty, the response begins with the oldest event that is still kept. With `latest` the response has no events, and `next` is the end of the feed. Later events come after it. The service refuses a cursor that lies beyond the end of this feed, or that was given before the service was restored from a backup. In that case begin again without `after`. */
      after?: string;
      /** Maximum number of events in the response. */
      limit?: number;
    };
    answer: FeedPage;
  };
  /** Send a test call to a partner's webhook */
  sendTestCall: {
    path: {
      /** The id of the credential, from the list of credentials. */
      id: string;
    };
    answer: TestCallOutcome;
  };
  /** List the last refused calls of a credential */
  listRefusedCalls: {
    path: {
      /** The id of the credential, from the list of credentials. */
      id: string;
    };
    answer: RefusedCall[];
  };
  /** Replace the secret of a credential, and let the old secret work for a while */
  rotateStaffCredential: {
    path: {
      /** The id of the credential, from the list of credentials. */
      id: string;
    };
    body: CredentialRotation;
    answer: RotatedCredential;
  };
  /** Set the webhook URL of a partner */
  setCredentialWebhook: {
    path: {
      /** The id of the credential, from the list of credentials. */
      id: string;
    };
    body: WebhookRegister;
    answer: WebhookRegisterResponse;
  };
  /** Remove the webhook URL of a partner, which stops its deliveries */
  removeCredentialWebhook: {
    path: {
      /** The id of the credential, from the list of credentials. */
      id: string;
    };
    answer: StaffCredential;
  };
  /** Take dishes off the menu, or put them back */
  changeAvailability: {
    body: AvailabilityChange;
    answer: DishAvailability[];
  };
  /** Change a dish, or take it off the menu */
  changeDish: {
    path: {
      /** The `sku` of the dish, percent-encoded. */
      sku: string;
    };
    body: DishChange;
    answer: StaffDish;
  };
  /** List the displays */
  listDisplays: {
    answer: Display[];
  };
  /** Add a display, and make its pairing code */
  createDisplay: {
    body: DisplayCreate;
    answer: CreatedDisplay;
  };
  /** Remove a display, which ends its session */
  removeDisplay: {
    path: {
      /** The id of the display. */
      id: string;
    };
    answer: Display;
  };
  /** List the events of all partners */
  listStaffEvents: {
    query?: {
      /** Maximum number of entries in the response: at most 100. The default is 50. */
      limit?: number;
      /** The `next` of the previous response. The response continues the list there. Send the same filters and the same order again. Without `after`, the response begins with the first entry. */
      after?: string;
      /** Lists only events of this credential. */
      credential_id?: string;
      /** Lists only events with this name. */
      type?: 'order.status_changed' | 'reservation.created' | 'reservation.modified' | 'reservation.cancelled';
      /** Lists only the events with these ids: up to 50 `event_id`s with commas between them. */
      ids?: string;
    };
    answer: StaffEventPage;
  };
  /** Read who calls, with the tenant, the session and the service */
  getMe: {
    answer: Me;
  };
  /** Change your own name or language */
  changeMe: {
    body: MeChange;
    answer: Me;
  };
  /** Change your own password */
  changePassword: {
    body: PasswordChange;
    answer: null;
  };
  /** Read the menu as a document */
  getMenuDocument: {
    answer: MenuDocument;
  };
  /** Replace the menu with a document */
  replaceMenu: {
    query?: {
      /** True makes all checks and returns what would change, but changes nothing. */
      dry_run?: boolean;
    };
    body: MenuDocument;
    answer: MenuDocument | MenuComparison;
  };
  /** List the nights on which more rooms are held than the hotel has */
  listOversoldNights: {
    query?: {
      /** Maximum number of entries in the response: at most 100. The default is 50. */
      limit?: number;
      /** The `next` of the previous response. The response continues the list there. Send the same filters and the same order again. Without `after`, the response begins with the first entry. */
      after?: string;
      /** The first night of the list. Without it, the list begins with today in the time zone of the tenant. */
      from?: string;
    };
    answer: OversoldNightPage;
  };
  /** Read the stays and the history of a night */
  getNight: {
    path: {
      /** The id of a room type, from the list of properties. */
      room_type_id: string;
      /** The day on which the night begins. */
      date: string;
    };
    answer: Night;
  };
  /** Read the opening hours */
  getOpeningHours: {
    answer: OpeningHours;
  };
  /** Replace the opening hours */
  replaceOpeningHours: {
    body: OpeningHours;
    answer: OpeningHours;
  };
  /** List the restaurant's orders */
  listStaffOrders: {
    query?: {
      /** Maximum number of orders in the response: at most 100, or 500 with `open=true`. The default is 50. */
      limit?: number;
      /** The `next` of the previous response. The response continues the list there. Send the same filters and the same order again. Without `after`, the response begins with the first entry. */
      after?: string;
      /** Lists only orders in this status. */
      status?: 'pending' | 'confirmed' | 'preparing' | 'ready' | 'out_for_delivery' | 'completed' | 'cancelled';
      /** Lists only orders that are neither `completed` nor `cancelled`. The only value is `true`. */
      open?: true;
      /** Lists only the orders with these ids: up to 50 `order_id`s with commas between them. */
      ids?: string;
      /** Lists only orders that this credential has placed. */
      credential_id?: string;
      /** Lists only orders of this type. */
      order_type?: 'delivery' | 'take_away' | 'pick_up';
      /** Lists only orders that were placed at this time or later. */
      created_from?: string;
      /** Lists only orders that were placed before this time. */
      created_to?: string;
      /** Lists only orders with this id of the partner. Each of the tenant's partners may have used the id once. */
      external_order_id?: string;
      /** Lists only orders with this number for calling out, without regard to case. Without `created_from`, the list has only orders of the last 31 days. */
      number?: string;
      /** Lists only orders of the guest with this telephone number. Only the digits of both numbers are compared, in any script, so the value needs a digit. */
      phone?: string;
      /** Lists only orders of guests whose name begins with this text, without regard to case and accents. Without `created_from`, the list has only orders of the last 31 days. */
      name?: string;
      /** Lists the oldest order first. Without this parameter, the newest order comes first. */
      order?: 'oldest';
    };
    answer: StaffOrderPage;
  };
  /** Read an order with its lines and its history */
  getStaffOrder: {
    path: {
      /** The id of the order in Roomservice, from the list of orders. */
      order_id: string;
    };
    answer: StaffOrder;
  };
  /** Change the status of an order */
  changeOrderStatus: {
    path: {
      /** The id of the order in Roomservice, from the list of orders. */
      order_id: string;
    };
    body: OrderStatusChange;
    answer: StaffOrder;
  };
  /** Read if the restaurant is open */
  getPause: {
    answer: PauseState;
  };
  /** Pause the restaurant */
  startPause: {
    body: PauseStart;
    answer: PauseState;
  };
  /** End the pause */
  endPause: {
    answer: PauseState;
  };
  /** List the owners and the staff */
  listPeople: {
    answer: Person[];
  };
  /** Invite a person */
  invitePerson: {
    body: PersonInvite;
    answer: Invitation;
  };
  /** Change, disable or enable a person */
  changePerson: {
    path: {
      /** The id of the person. */
      id: string;
    };
    body: PersonChange;
    answer: Person;
  };
  /** Make a link with which a person chooses a new password */
  resetPerson: {
    path: {
      /** The id of the person. */
      id: string;
    };
    answer: PasswordReset;
  };
  /** List the properties with their room types and rate plans */
  listProperties: {
    answer: StaffProperty[];
  };
  /** Change the base price or the shortest stay of a rate plan */
  changeRatePlan: {
    path: {
      /** The id of the rate plan. It may be inactive. */
      id: string;
    };
    body: RatePlanChange;
    answer: ChangedRatePlan;
  };
  /** Change the prices and restrictions of nights */
  changeRates: {
    body: RateChanges;
    answer: RatesChanged;
  };
  /** Read the orders and the stays of each day */
  reportDays: {
    query: {
      /** The first day of the report. */
      from: string;
      /** The day after the last day of the report. It is 1 to 31 days after `from`. */
      to: string;
      /** The format of the response. `csv` is for a spreadsheet. */
      format?: 'json' | 'csv';
    };
    answer: DayReport[];
  };
  /** List the hotel's reservations */
  listStaffReservations: {
    query?: {
      /** Maximum number of entries in the response: at most 100. The default is 50. */
      limit?: number;
      /** The `next` of the previous response. The response continues the list there. Send the same filters and the same order again. Without `after`, the response begins with the first entry. */
      after?: string;
      /** Lists only reservations with this status. */
      status?: 'pending' | 'confirmed' | 'cancelled' | 'no_show' | 'completed' | 'expired';
      /** Lists only reservations of room types of this property. */
      property_id?: string;
      /** Lists only reservations of this room type. */
      room_type_id?: string;
      /** Lists only reservations that a partner booked with this credential. */
      credential_id?: string;
      /** Lists only reservations from this source: a partner, an OTA or the hotel itself. */
      source?: 'partner' | 'ota' | 'house';
      /** Lists only reservations whose `check_in` is this day. */
      arriving_on?: string;
      /** Lists only reservations whose `check_out` is this day. */
      departing_on?: string;
      /** Lists only reservations whose guests stay in the night that begins on this day. */
      staying_on?: string;
      /** Lists only reservations that were booked or have changed at this time or later. */
      changed_since?: string;
      /** Lists only the reservation with this short reference. Upper and lower case are equal. */
      natural_id?: string;
      /** Lists only reservations that have this id at their partner or OTA. */
      external_id?: string;
      /** Lists only reservations whose guest has this e-mail address. Upper and lower case are equal. */
      email?: string;
      /** Lists only reservations whose guest has this telephone number. Two numbers are equal if they have the same digits, in any script. All other characters are ignored. */
      phone?: string;
      /** Lists only reservations whose guest has a name that begins with this text. Case and accents are ignored. */
      name?: string;
      /** Lists only reservations with these Roomservice ids, separated by commas, at most 50. */
      ids?: string;
      /** `check_in` lists the earliest arrival first. By default, the newest reservation is first. */
      order?: 'check_in';
    };
    answer: StaffReservationPage;
  };
  /** Book a stay for the hotel itself, once for each request_id */
  bookStay: {
    body: HouseBooking;
    answer: StaffReservationWithHistory;
  };
  /** Read a reservation */
  getStaffReservation: {
    path: {
      /** The Roomservice id of the reservation, as the list shows it. */
      id: string;
    };
    answer: StaffReservationWithHistory;
  };
  /** Change a stay that the hotel itself booked, or end any stay early */
  changeStay: {
    path: {
      /** The Roomservice id of the reservation, as the list shows it. */
      id: string;
    };
    body: HouseChange;
    answer: StaffReservationWithHistory;
  };
  /** Report that the guests have arrived */
  setArrival: {
    path: {
      /** The Roomservice id of the reservation, as the list shows it. */
      id: string;
    };
    body: Arrival;
    answer: StaffReservationWithHistory;
  };
  /** Change the status of a reservation */
  changeReservationStatus: {
    path: {
      /** The Roomservice id of the reservation, as the list shows it. */
      id: string;
    };
    body: ReservationStatusChange;
    answer: StaffReservationWithHistory;
  };
  /** Change the number of rooms of a room type */
  changeRoomType: {
    path: {
      /** The id of the room type. It may be inactive. */
      id: string;
    };
    body: RoomTypeChange;
    answer: ChangedRoomType;
  };
  /** Send simulated guests to the demo */
  makeBusy: {
    body: TrafficRequest;
    answer: TrafficAnswer;
  };
  /** List the sessions that have not ended */
  listSessions: {
    query?: {
      /** The id of a person. Without it, the list shows the sessions of the caller. Only an owner may name another person. */
      person_id?: string;
    };
    answer: Session[];
  };
  /** End a session */
  endSession: {
    path: {
      /** The id of the session. */
      id: string;
    };
    answer: Session;
  };
  /** Read the state of the house now */
  getToday: {
    query?: {
      /** The minutes after which an order that is `pending` counts as late. */
      late_pending?: number;
      /** The minutes after which an order that is `confirmed` counts as late. */
      late_confirmed?: number;
      /** The minutes after which an order that is `preparing` counts as late. */
      late_preparing?: number;
      /** The minutes after which an order that is `ready` counts as late. */
      late_ready?: number;
      /** The minutes after which an order that is `out_for_delivery` counts as late. */
      late_out_for_delivery?: number;
    };
    answer: Today;
  };
  /** List the webhook deliveries with every attempt */
  listWebhookDeliveries: {
    query?: {
      /** Maximum number of entries in the response: at most 100. The default is 50. */
      limit?: number;
      /** The `next` of the previous response. The response continues the list there. Send the same filters and the same order again. Without `after`, the response begins with the first entry. */
      after?: string;
      /** Only deliveries in this status. */
      status?: 'pending' | 'delivered' | 'failed' | 'stopped';
      /** Only deliveries of the events of this credential. */
      credential_id?: string;
      /** Only deliveries of events with this name. */
      event?: 'order.status_changed' | 'reservation.created' | 'reservation.modified' | 'reservation.cancelled';
      /** Only the deliveries with these ids: up to 50 ids with commas between them. */
      ids?: string;
      /** Only deliveries whose `created_at` is this time or later. */
      created_from?: string;
      /** Only deliveries whose `created_at` is before this time. */
      created_to?: string;
    };
    answer: DeliveryPage;
  };
  /** Read a delivery with its request and the responses */
  getWebhookDelivery: {
    path: {
      /** The id of the delivery, from the list. */
      id: string;
    };
    answer: DeliveryDetail;
  };
  /** List the credentials */
  listCredentials: {
    query?: {
      /** Number of the page. Without `page` and `page_size`, the response is the whole list as an array. */
      page?: number;
      /** Number of entries on a page: 50 if only `page` is sent, at most 200. */
      page_size?: number;
    };
    answer: IntegrationCredential[] | IntegrationCredentialPage;
  };
  /** Create a credential. Only this response shows its secret */
  createCredential: {
    body: IntegrationCredentialCreate;
    answer: IntegrationCredentialSecretResponse;
  };
  /** Revoke a credential for good */
  revokeCredential: {
    path: {
      /** The id of the credential, from the list of credentials. */
      id: string;
    };
    answer: IntegrationCredential;
  };
  /** Replace the secret of a credential, which ends the old secret immediately */
  rotateCredential: {
    path: {
      /** The id of the credential, from the list of credentials. */
      id: string;
    };
    answer: IntegrationCredentialSecretResponse;
  };
  /** List the channels */
  listChannels: {
    answer: Channel[];
  };
  /** Create a channel and show its secret once */
  createChannel: {
    body: ChannelCreate;
    answer: ChannelSecret;
  };
  /** Revoke a channel permanently */
  revokeChannel: {
    path: {
      /** The id of the channel, as the list shows it. */
      id: string;
    };
    answer: Channel;
  };
  /** Replace the key and the secret of a channel */
  rotateChannel: {
    path: {
      /** The id of the channel, as the list shows it. */
      id: string;
    };
    answer: ChannelSecret;
  };
  /** List the credentials */
  listPmsCredentials: {
    answer: PmsCredential[];
  };
  /** Create a credential. Only this response shows its secret */
  createPmsCredential: {
    body: PmsCredentialCreate;
    answer: PmsCredentialSecret;
  };
  /** Revoke a credential for good */
  revokePmsCredential: {
    path: {
      /** The id of the credential, from the list of credentials. */
      id: string;
    };
    answer: PmsCredential;
  };
  /** Replace the secret of a credential, which ends the old secret immediately */
  rotatePmsCredential: {
    path: {
      /** The id of the credential, from the list of credentials. */
      id: string;
    };
    answer: PmsCredentialSecret;
  };
}

/** Method and path of each operation. */
export const ROUTES: Record<keyof Operations, { method: string; path: string }> = {
  pairDisplay: { method: 'POST', path: '/v1/auth/display/' },
  choosePassword: { method: 'POST', path: '/v1/auth/password/' },
  startSession: { method: 'POST', path: '/v1/auth/session/' },
  endOwnSession: { method: 'DELETE', path: '/v1/auth/session/' },
  signIn: { method: 'POST', path: '/v1/auth/token/' },
  welcomeOwner: { method: 'POST', path: '/v1/auth/welcome/' },
  listAudit: { method: 'GET', path: '/v1/staff/audit/' },
  getCalendar: { method: 'GET', path: '/v1/staff/calendar/' },
  watchChanges: { method: 'GET', path: '/v1/staff/changes/' },
  listStaffCredentials: { method: 'GET', path: '/v1/staff/credentials/' },
  getStaffCredential: { method: 'GET', path: '/v1/staff/credentials/{id}/' },
  changeStaffCredential: { method: 'PATCH', path: '/v1/staff/credentials/{id}/' },
  getPartnerFeed: { method: 'GET', path: '/v1/staff/credentials/{id}/feed/' },
  sendTestCall: { method: 'POST', path: '/v1/staff/credentials/{id}/ping/' },
  listRefusedCalls: { method: 'GET', path: '/v1/staff/credentials/{id}/refusals/' },
  rotateStaffCredential: { method: 'POST', path: '/v1/staff/credentials/{id}/rotate/' },
  setCredentialWebhook: { method: 'POST', path: '/v1/staff/credentials/{id}/webhook/' },
  removeCredentialWebhook: { method: 'POST', path: '/v1/staff/credentials/{id}/webhook/remove/' },
  changeAvailability: { method: 'POST', path: '/v1/staff/dishes/availability/' },
  changeDish: { method: 'PATCH', path: '/v1/staff/dishes/{sku}/' },
  listDisplays: { method: 'GET', path: '/v1/staff/displays/' },
  createDisplay: { method: 'POST', path: '/v1/staff/displays/' },
  removeDisplay: { method: 'POST', path: '/v1/staff/displays/{id}/remove/' },
  listStaffEvents: { method: 'GET', path: '/v1/staff/events/' },
  getMe: { method: 'GET', path: '/v1/staff/me/' },
  changeMe: { method: 'PATCH', path: '/v1/staff/me/' },
  changePassword: { method: 'POST', path: '/v1/staff/me/password/' },
  getMenuDocument: { method: 'GET', path: '/v1/staff/menu/' },
  replaceMenu: { method: 'PUT', path: '/v1/staff/menu/' },
  listOversoldNights: { method: 'GET', path: '/v1/staff/nights/oversold/' },
  getNight: { method: 'GET', path: '/v1/staff/nights/{room_type_id}/{date}/' },
  getOpeningHours: { method: 'GET', path: '/v1/staff/opening-hours/' },
  replaceOpeningHours: { method: 'PUT', path: '/v1/staff/opening-hours/' },
  listStaffOrders: { method: 'GET', path: '/v1/staff/orders/' },
  getStaffOrder: { method: 'GET', path: '/v1/staff/orders/{order_id}/' },
  changeOrderStatus: { method: 'POST', path: '/v1/staff/orders/{order_id}/status/' },
  getPause: { method: 'GET', path: '/v1/staff/pause/' },
  startPause: { method: 'POST', path: '/v1/staff/pause/' },
  endPause: { method: 'DELETE', path: '/v1/staff/pause/' },
  listPeople: { method: 'GET', path: '/v1/staff/people/' },
  invitePerson: { method: 'POST', path: '/v1/staff/people/' },
  changePerson: { method: 'PATCH', path: '/v1/staff/people/{id}/' },
  resetPerson: { method: 'POST', path: '/v1/staff/people/{id}/reset/' },
  listProperties: { method: 'GET', path: '/v1/staff/properties/' },
  changeRatePlan: { method: 'PATCH', path: '/v1/staff/rate-plans/{id}/' },
  changeRates: { method: 'PATCH', path: '/v1/staff/rates/' },
  reportDays: { method: 'GET', path: '/v1/staff/reports/days/' },
  listStaffReservations: { method: 'GET', path: '/v1/staff/reservations/' },
  bookStay: { method: 'POST', path: '/v1/staff/reservations/' },
  getStaffReservation: { method: 'GET', path: '/v1/staff/reservations/{id}/' },
  changeStay: { method: 'PATCH', path: '/v1/staff/reservations/{id}/' },
  setArrival: { method: 'POST', path: '/v1/staff/reservations/{id}/arrival/' },
  changeReservationStatus: { method: 'POST', path: '/v1/staff/reservations/{id}/status/' },
  changeRoomType: { method: 'PATCH', path: '/v1/staff/room-types/{id}/' },
  makeBusy: { method: 'POST', path: '/v1/staff/sandbox/traffic/' },
  listSessions: { method: 'GET', path: '/v1/staff/sessions/' },
  endSession: { method: 'POST', path: '/v1/staff/sessions/{id}/end/' },
  getToday: { method: 'GET', path: '/v1/staff/today/' },
  listWebhookDeliveries: { method: 'GET', path: '/v1/staff/webhook-deliveries/' },
  getWebhookDelivery: { method: 'GET', path: '/v1/staff/webhook-deliveries/{id}/' },
  listCredentials: { method: 'GET', path: '/v1/third-party/credentials/' },
  createCredential: { method: 'POST', path: '/v1/third-party/credentials/' },
  revokeCredential: { method: 'POST', path: '/v1/third-party/credentials/{id}/revoke/' },
  rotateCredential: { method: 'POST', path: '/v1/third-party/credentials/{id}/rotate/' },
  listChannels: { method: 'GET', path: '/v1/channel-manager/channels/' },
  createChannel: { method: 'POST', path: '/v1/channel-manager/channels/' },
  revokeChannel: { method: 'POST', path: '/v1/channel-manager/channels/{id}/revoke/' },
  rotateChannel: { method: 'POST', path: '/v1/channel-manager/channels/{id}/rotate/' },
  listPmsCredentials: { method: 'GET', path: '/v1/channel-manager/credentials/' },
  createPmsCredential: { method: 'POST', path: '/v1/channel-manager/credentials/' },
  revokePmsCredential: { method: 'POST', path: '/v1/channel-manager/credentials/{id}/revoke/' },
  rotatePmsCredential: { method: 'POST', path: '/v1/channel-manager/credentials/{id}/rotate/' },
};
