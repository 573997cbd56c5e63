/** Written by `npm run generate` from the OpenAPI document of the same name in contract/; do not edit. */

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

/** A heading of the menu. */
export interface Category {
  /** The same for as long as the name is. */
  id: string;
  /** The heading under which the dish stands. */
  name: string;
  /** How many dishes the menu lists under it, as text. */
  dish_count: string;
  /** More about it; may be empty. */
  description: string;
  /** URL of a picture. */
  image: string | null;
  /** Which ticket of the house it is printed on. */
  ticket_type: string | null;
  /** A number for the house whose menu this is. */
  tenant: number;
  /** The sub-menu that the whole category belongs to, where it belongs to one. */
  sub_menu: string | null;
  /** The menu set that the whole category belongs to, where it belongs to one. */
  menu_set: string | null;
  /** When it came onto the menu. */
  created_at: string;
  /** When something of it last changed. */
  updated_at: string;
  /** Null: what is deleted is not listed. */
  deleted_at: string | null;
  /** When it came back after it was deleted. */
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
  /** `pending`: the delivery waits for its next attempt. `delivered`: the receiver answered 2xx. `failed`: the fifth attempt failed, and the service does not try again. `stopped`: the credential was revoked. */
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

/** Where the dish is made. */
export interface Kitchen {
  /** The same for as long as the name is. */
  id: string;
  /** Its name. */
  name: string;
  /** More about it; may be empty. */
  description: string;
  /** The hotel it belongs to, where that is known. */
  hotel_id: string | null;
  /** Where its stock is kept, where that is known. */
  stock_location_id: string | null;
  /** When it came onto the menu. */
  created_at: string;
  /** When something of it last changed. */
  updated_at: string;
}

/** A card of the house, such as the one for the evening. */
export interface MenuSet {
  /** The same for as long as the name is. */
  id: string;
  /** Its name. */
  name: string;
  /** When it is served. For show: orders are taken at any time. */
  service: 'all_day' | 'breakfast' | 'lunch' | 'dinner';
  /** As the house keeps it. It takes no dish off the menu. */
  status: 'active' | 'inactive';
  /** A number for the house whose menu this is. */
  tenant: number;
  /** What it is made of. */
  sub_menus: SubMenu[];
  /** When it came onto the menu. */
  created_at: string;
  /** When something of it last changed. */
  updated_at: string;
}

/** An add-on that goes with each piece of an item. */
export interface OrderAddonInput {
  /** The `id` of one of the dish's `addons`. */
  addon_id: string;
  /** How many of it go with each piece. */
  quantity?: number;
}

/** An order as a platform places it. Prices are those of the menu; none are sent. */
export interface OrderCreate {
  /** The caller's own id of the order. However often it is sent, one order is placed. */
  external_order_id: string;
  /** What is ordered. */
  items: OrderItemInput[];
  /** How the food reaches the guest. */
  order_type?: 'delivery' | 'take_away' | 'pick_up';
  /** Whom the order is for. */
  customer?: {
    /** The name to call out or to ring for. */
    name?: string;
    /** A number for questions. */
    phone?: string;
  };
  /** Where a delivery goes, in the words a driver needs. */
  delivery_address?: string;
  /** Wishes for the kitchen. */
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

/** A dish that is ordered. */
export interface OrderItemInput {
  /** The `sku` of a dish on the menu. */
  item_id: string;
  /** How many pieces. */
  quantity: number;
  /** The `id` of one of the dish's `price_variants`; left out: the dish as it is. */
  variant_id?: string;
  /** What goes with each piece. */
  addons?: OrderAddonInput[];
}

/** The order as it stands now. */
export interface OrderResponse {
  /** Always true: a refusal is answered with an error. */
  success: boolean;
  /** The id of the order inside Roomservice; events carry it too. */
  order_id: string;
  /** The caller's own id, as it was sent. */
  external_order_id: string;
  /** Where the order stands. A new one is `pending`; it ends `completed` or `cancelled`. Statuses on the way may be left out. */
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

/** A form of the dish with a price of its own. */
export interface PriceVariant {
  /** Sent as `variant_id` to order it. The same for as long as dish and name are. */
  id: string;
  /** Its name. */
  name: string;
  /** What one piece costs, in place of the dish's own price. */
  price: string;
  /** Three letters of ISO 4217. */
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
  /** The same for as long as the name is. */
  id: string;
  /** Its name. */
  name: string;
  /** As the house keeps it. It takes no dish off the menu. */
  is_active: boolean;
}

/** Something that can be ordered along with the dish. */
export interface ThirdPartyAddOn {
  /** Sent as `addon_id` to order it. The same for as long as dish and name are. */
  id: string;
  /** Its name. */
  name: string;
  /** What one of it adds to the price of one piece. */
  price: string;
  /** URL of a picture. */
  image: string | null;
  /** A diet it suits; empty or null: not said. */
  dish_type: 'veg' | 'non_veg' | 'halal' | 'vegan' | 'gluten_free' | 'sugar_free' | '' | null;
  /** Always true here: an add-on that is not offered is not listed. */
  is_active: boolean;
}

/** A dish that can be ordered now. */
export interface ThirdPartyDish {
  /** The id of the dish inside Roomservice. To order, send the `sku`. */
  id: string;
  /** What the dish is ordered by: `item_id` of an order. */
  sku: string;
  /** Its name. */
  name: string;
  /** What a guest should know of it; may be empty. */
  description: string;
  /** A diet it suits; empty or null: not said. */
  dish_type: 'veg' | 'non_veg' | 'halal' | 'vegan' | 'gluten_free' | 'sugar_free' | '' | null;
  /** What one piece costs, without variant and add-ons. */
  price: string;
  /** Three letters of ISO 4217; the same for the whole menu. */
  currency: string;
  /** Whether it can be ordered. */
  is_active: boolean;
  /** Whether `extra_tax_percentage` is added to what is ordered of it. */
  is_taxable: boolean;
  /** Per cent that come on top of the price. */
  extra_tax_percentage: string;
  /** URL of a picture. */
  image: string | null;
  category: Category;
  sub_menu: SubMenu;
  kitchen: Kitchen;
  menu_set: MenuSet;
  /** Its forms; empty where there is one only. */
  price_variants: PriceVariant[];
  /** What can be ordered along with it. */
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

/** What each operation takes and answers with, by operation id. */
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
  /** List the orders this credential has placed */
  listOrders: {
    query?: {
      /** Number of the page. Without `page` and `page_size`, the response is the whole list as an array. */
      page?: number;
      /** Number of entries on a page: 50 if only `page` is sent, at most 200. */
      page_size?: number;
    };
    answer: OrderResponse[] | OrderResponsePage;
  };
  /** Place an order, once per external_order_id */
  createOrder: {
    body: OrderCreate;
    answer: OrderResponse;
  };
  /** Read an order */
  getOrder: {
    path: {
      /** The id that the order was placed under, percent-encoded. */
      external_order_id: string;
    };
    answer: OrderResponse;
  };
  /** Cancel an order */
  cancelOrder: {
    path: {
      /** The id that the order was placed under, percent-encoded. */
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

/** Where each operation is. */
export const ROUTES: Record<keyof Operations, { method: string; path: string }> = {
  listEvents: { method: 'GET', path: '/v1/third-party/events/' },
  getAvailability: { method: 'GET', path: '/v1/third-party/hotels/availability/' },
  listReservations: { method: 'GET', path: '/v1/third-party/hotels/reservations/' },
  createReservation: { method: 'POST', path: '/v1/third-party/hotels/reservations/' },
  getReservation: { method: 'GET', path: '/v1/third-party/hotels/reservations/{external_reservation_id}/' },
  cancelReservation: { method: 'POST', path: '/v1/third-party/hotels/reservations/{external_reservation_id}/cancel/' },
  listRoomTypes: { method: 'GET', path: '/v1/third-party/hotels/rooms/' },
  getMenu: { method: 'GET', path: '/v1/third-party/menu/' },
  listOrders: { method: 'GET', path: '/v1/third-party/orders/' },
  createOrder: { method: 'POST', path: '/v1/third-party/orders/' },
  getOrder: { method: 'GET', path: '/v1/third-party/orders/{external_order_id}/' },
  cancelOrder: { method: 'POST', path: '/v1/third-party/orders/{external_order_id}/cancel/' },
  registerWebhook: { method: 'POST', path: '/v1/third-party/webhook/' },
};
