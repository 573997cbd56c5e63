/** `npm run generate` writes this file from the OpenAPI document with the same name in contract/. Do not edit it. */

/** The sellable rooms of a room type, night by night. */
export interface AvailabilityResponse {
  /** The room type of the query. */
  room_type_id: string;
  /** The name of the room type. */
  name: string;
  /** The price of one night if the room type has no active rate plan. Null means that no price is set. */
  base_price: string | null;
  /** One entry for each night, from `check_in` to the night before `check_out`. A stay needs a room in each of its nights. */
  days: AvailableNight[];
}

/** The rooms of a room type that can be booked in one night. */
export interface AvailableNight {
  /** The day on which the night begins. */
  date: string;
  /** The number of rooms that can still be booked. It is 0 if the night is full or closed, and negative after an oversell. */
  sellable: number;
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

/** An add-on that is ordered with each piece of an item. */
export interface OrderAddonInput {
  /** The `id` of an add-on, from the `addons` of the dish. */
  addon_id: string;
  /** The quantity of this add-on for each piece of the item. */
  quantity?: number;
}

/** A new order. It contains no prices, because the prices of the menu apply. */
export interface OrderCreate {
  /** The caller's own id of the order. If it is sent several times, only one order is placed. */
  external_order_id: string;
  /** The ordered dishes. */
  items: OrderItemInput[];
  /** The way in which the food reaches the guest. */
  order_type?: 'delivery' | 'take_away' | 'pick_up';
  /** The guest who gets the order. */
  customer?: {
    /** The name of the guest. */
    name?: string;
    /** A telephone number of the guest, for questions. */
    phone?: string;
  };
  /** The address of a delivery, as free text for the driver. */
  delivery_address?: string;
  /** Notes for the kitchen. */
  notes?: string;
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

/** A dish in an order, with its quantity, variant and add-ons. */
export interface OrderItemInput {
  /** The `sku` of a dish on the menu. */
  item_id: string;
  /** The number of pieces. */
  quantity: number;
  /** The `id` of a variant, from the `price_variants` of the dish. If it is missing, the dish without a variant is ordered. */
  variant_id?: string;
  /** The add-ons for each piece. */
  addons?: OrderAddonInput[];
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

/** The price that an order of these items has now. */
export interface OrderQuote {
  /** The priced lines, one for each item. */
  lines: OrderLine[];
  /** The sum of the totals of all lines. */
  total: string;
  /** The currency of all amounts, as three letters of ISO 4217. */
  currency: string;
}

/** The fields of a new order without its `external_order_id`. Only `items` has an influence on the price. */
export interface OrderQuoteRequest {
  /** The ordered dishes. */
  items: OrderItemInput[];
  /** The way in which the food reaches the guest. */
  order_type?: 'delivery' | 'take_away' | 'pick_up';
  /** The guest who gets the order. */
  customer?: {
    /** The name of the guest. */
    name?: string;
    /** A telephone number of the guest, for questions. */
    phone?: string;
  };
  /** The address of a delivery, as free text for the driver. */
  delivery_address?: string;
  /** Notes for the kitchen. */
  notes?: string;
}

/** An order with its current status. */
export interface OrderResponse {
  /** Always true, because a refused call gets an error instead. */
  success: boolean;
  /** The id of the order in Roomservice. Events contain it too. */
  order_id: string;
  /** The caller's own id of the order, as it was sent. */
  external_order_id: string;
  /** The current status of the order. A new order is `pending`. An order ends as `completed` or `cancelled`. Statuses in between may be skipped. */
  status: 'pending' | 'confirmed' | 'preparing' | 'ready' | 'out_for_delivery' | 'completed' | 'cancelled';
}

/** One page of the list. */
export interface OrderResponsePage {
  /** Number of entries in the whole list. */
  count: number;
  /** URL of the next page, or null on the last page. */
  next: string | null;
  /** URL of the previous page, or null on the first page. */
  previous: string | null;
  /** The entries of this page. */
  results: OrderResponse[];
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

/** The hotel building that the rooms are in. */
export interface Property {
  /** The id of the property. */
  id: string;
  /** The name of the property. */
  name: string;
  /** The city of the property. It may be empty. */
  city: string;
  /** The country of the property, as two letters of ISO 3166. */
  country_code: string;
}

/** The price of one night of a stay. */
export interface QuotedNight {
  /** The day on which the night begins. */
  date: string;
  /** The price of the night. */
  price: string;
}

/** A new reservation of one room of a room type for all nights of a stay. */
export interface ReservationCreate {
  /** The caller's own id of the reservation. Several calls with one id book only one stay. */
  external_reservation_id: string;
  /** The id of a room type, from the list of room types. */
  room_type_id: string;
  /** The day of arrival. The first night of the stay begins on it. It must not be before today in the time zone of the property. */
  check_in: string;
  /** The day of departure. It is after `check_in`, by at most 730 nights. The night that begins on it is not part of the stay. */
  check_out: string;
  /** The number of guests. It is at most the room type's `max_occupancy`. */
  guests?: number;
  /** The guest for whom the stay is booked. */
  guest: {
    /** The name that the guest gives at the desk. */
    name: string;
    /** The telephone number of the guest. */
    phone: string;
    /** The e-mail address of the guest. */
    email?: string;
  };
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

/** The price of a stay, as a booking would charge it now. */
export interface ReservationQuote {
  /** The room type of the query. */
  room_type_id: string;
  /** The day of arrival. */
  check_in: string;
  /** The day of departure. */
  check_out: string;
  /** The number of guests. */
  guests: number;
  /** The rate plan that a booking gets. Null if the room type has no active rate plan, so that its own `base_price` applies. */
  rate_plan: {
    /** The id of the rate plan. */
    id: string;
    /** The name of the rate plan. */
    name: string;
  } | null;
  /** The price of each night, from `check_in` to the night before `check_out`. */
  nights: QuotedNight[];
  /** The price of the whole stay, which is the sum of its nights. */
  total_amount: string;
  /** The currency of the amounts, as three letters of ISO 4217. */
  currency: string;
}

/** The present state of a reservation. */
export interface ReservationResponse {
  /** Always true, because a refused call gets an error response. */
  success: boolean;
  /** The Roomservice id of the reservation. Events also carry it. */
  reservation_id: string;
  /** The caller's own id of the reservation, as it was sent. */
  external_reservation_id: string;
  /** The present status of the reservation. A new reservation is `confirmed`. */
  status: 'pending' | 'confirmed' | 'cancelled' | 'no_show' | 'completed' | 'expired';
  /** The booked room type. */
  room_type_id: string;
  /** The day of arrival. The first night of the stay begins on it. */
  check_in: string;
  /** The day of departure. */
  check_out: string;
  /** The number of guests. */
  guests: number;
  /** The price of the whole stay: the sum of its nights under the cheapest rate plan that was open on all of them. */
  total_amount: string;
  /** The currency of the amount, as three letters of ISO 4217. */
  currency: string;
  /** The time of the booking. */
  created_at: string;
}

/** One page of the list. */
export interface ReservationResponsePage {
  /** Number of entries in the whole list. */
  count: number;
  /** URL of the next page, or null on the last page. */
  next: string | null;
  /** URL of the previous page, or null on the first page. */
  previous: string | null;
  /** The entries of this page. */
  results: ReservationResponse[];
}

/** Rooms of one kind, which are sold under one name. */
export interface RoomType {
  /** The id of the room type. Availability calls and reservations use it. */
  room_type_id: string;
  /** The name of the room type, unique within the property. */
  name: string;
  /** A text about the room type for guests. It may be empty. */
  description: string;
  /** The largest number of guests in one room. A reservation for more guests is refused. */
  max_occupancy: number;
  /** The price of one night if the room type has no active rate plan. Null means that no price is set. If the room type has active rate plans, their nightly prices apply, and the reservation shows the total. */
  base_price: string | null;
  /** The currency of the prices, as three letters of ISO 4217. */
  currency: string;
  property: Property;
  /** The names of the amenities in the room. */
  amenities: string[];
  /** The URLs of the pictures. */
  images: string[];
}

/** One page of the list. */
export interface RoomTypePage {
  /** Number of entries in the whole list. */
  count: number;
  /** URL of the next page, or null on the last page. */
  next: string | null;
  /** URL of the previous page, or null on the first page. */
  previous: string | null;
  /** The entries of this page. */
  results: RoomType[];
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

/** An extra that can be ordered with the dish. */
export interface ThirdPartyAddOn {
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

/** A dish that can be ordered now. */
export interface ThirdPartyDish {
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
  addons: ThirdPartyAddOn[];
}

/** One page of the list. */
export interface ThirdPartyDishPage {
  /** Number of entries in the whole list. */
  count: number;
  /** URL of the next page, or null on the last page. */
  next: string | null;
  /** URL of the previous page, or null on the first page. */
  previous: string | null;
  /** The entries of this page. */
  results: ThirdPartyDish[];
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

/** Parameters, request body and response of each operation, by operation id. */
export interface Operations {
  /** Read the credential's events after a cursor */
  listEvents: {
    query?: {
      /** The `next` of the previous response. If it is missing or empty, the response begins with the oldest event that is still kept. With `latest` the response has no events, and `next` is the end of the feed. Later events come after it. The service refuses a cursor that lies beyond the end of this feed, or that was given before the service was restored from a backup. In that case begin again without `after`. */
      after?: string;
      /** Maximum number of events in the response. */
      limit?: number;
    };
    answer: FeedPage;
  };
  /** Read the sellable rooms of a room type, night by night */
  getAvailability: {
    query: {
      /** The id of a room type, from the list of room types. */
      room_type_id: string;
      /** The day of arrival. The first night of the stay begins on it. */
      check_in: string;
      /** The day of departure. It is after `check_in`, by at most 730 nights. The night that begins on it is not part of the stay. */
      check_out: string;
    };
    answer: AvailabilityResponse;
  };
  /** Price a stay before you book it */
  quoteReservation: {
    query: {
      /** The id of a room type, from the list of room types. */
      room_type_id: string;
      /** The day of arrival. It must not be before today in the time zone of the property. */
      check_in: string;
      /** The day of departure. It is after `check_in`, by at most 730 nights. The night that begins on it is not part of the stay. */
      check_out: string;
      /** The number of guests. It is at most the room type's `max_occupancy`. */
      guests?: number;
    };
    answer: ReservationQuote;
  };
  /** List the reservations that this credential has booked */
  listReservations: {
    query?: {
      /** Number of the page. Without `page` and `page_size`, the response is the whole list as an array. */
      page?: number;
      /** Number of entries on a page: 50 if only `page` is sent, at most 200. */
      page_size?: number;
    };
    answer: ReservationResponse[] | ReservationResponsePage;
  };
  /** Book a stay, once for each external_reservation_id */
  createReservation: {
    body: ReservationCreate;
    answer: ReservationResponse;
  };
  /** Read a reservation */
  getReservation: {
    path: {
      /** The external id under which the stay was booked, percent-encoded. */
      external_reservation_id: string;
    };
    answer: ReservationResponse;
  };
  /** Cancel a reservation */
  cancelReservation: {
    path: {
      /** The external id under which the stay was booked, percent-encoded. */
      external_reservation_id: string;
    };
    answer: ReservationResponse;
  };
  /** List the room types */
  listRoomTypes: {
    query?: {
      /** Number of the page. Without `page` and `page_size`, the response is the whole list as an array. */
      page?: number;
      /** Number of entries on a page: 50 if only `page` is sent, at most 200. */
      page_size?: number;
    };
    answer: RoomType[] | RoomTypePage;
  };
  /** Read the menu */
  getMenu: {
    query?: {
      /** Number of the page. Without `page` and `page_size`, the response is the whole list as an array. */
      page?: number;
      /** Number of entries on a page: 50 if only `page` is sent, at most 200. */
      page_size?: number;
    };
    answer: ThirdPartyDish[] | ThirdPartyDishPage;
  };
  /** List the orders of this credential */
  listOrders: {
    query?: {
      /** Number of the page. Without `page` and `page_size`, the response is the whole list as an array. */
      page?: number;
      /** Number of entries on a page: 50 if only `page` is sent, at most 200. */
      page_size?: number;
    };
    answer: OrderResponse[] | OrderResponsePage;
  };
  /** Place an order once per external_order_id */
  createOrder: {
    body: OrderCreate;
    answer: OrderResponse;
  };
  /** Price an order before it is placed */
  quoteOrder: {
    body: OrderQuoteRequest;
    answer: OrderQuote;
  };
  /** Read an order */
  getOrder: {
    path: {
      /** The caller's own id of the order, percent-encoded. */
      external_order_id: string;
    };
    answer: OrderResponse;
  };
  /** Cancel an order */
  cancelOrder: {
    path: {
      /** The caller's own id of the order, percent-encoded. */
      external_order_id: string;
    };
    answer: OrderResponse;
  };
  /** Register the URL that events are sent to */
  registerWebhook: {
    body: WebhookRegister;
    answer: WebhookRegisterResponse;
  };
}

/** Method and path of each operation. */
export const ROUTES: Record<keyof Operations, { method: string; path: string }> = {
  listEvents: { method: 'GET', path: '/v1/third-party/events/' },
  getAvailability: { method: 'GET', path: '/v1/third-party/hotels/availability/' },
  quoteReservation: { method: 'GET', path: '/v1/third-party/hotels/quote/' },
  listReservations: { method: 'GET', path: '/v1/third-party/hotels/reservations/' },
  createReservation: { method: 'POST', path: '/v1/third-party/hotels/reservations/' },
  getReservation: { method: 'GET', path: '/v1/third-party/hotels/reservations/{external_reservation_id}/' },
  cancelReservation: { method: 'POST', path: '/v1/third-party/hotels/reservations/{external_reservation_id}/cancel/' },
  listRoomTypes: { method: 'GET', path: '/v1/third-party/hotels/rooms/' },
  getMenu: { method: 'GET', path: '/v1/third-party/menu/' },
  listOrders: { method: 'GET', path: '/v1/third-party/orders/' },
  createOrder: { method: 'POST', path: '/v1/third-party/orders/' },
  quoteOrder: { method: 'POST', path: '/v1/third-party/orders/quote/' },
  getOrder: { method: 'GET', path: '/v1/third-party/orders/{external_order_id}/' },
  cancelOrder: { method: 'POST', path: '/v1/third-party/orders/{external_order_id}/cancel/' },
  registerWebhook: { method: 'POST', path: '/v1/third-party/webhook/' },
};
