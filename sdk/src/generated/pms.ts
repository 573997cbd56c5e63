/** `npm run generate` writes this file from the OpenAPI document with the same name in contract/. Do not edit it. */

/** The capacity and the sellable rooms of a room type in one night. */
export interface InventoryEntry {
  /** The day on which the night begins. */
  date: string;
  /** The number of rooms of the room type. */
  physical_capacity: number;
  /** The capacity minus the rooms that reservations hold. It is negative after an oversell. */
  sellable: number;
}

/** A hotel building of the tenant. */
export interface PmsProperty {
  /** The id of the property. Paths have it as `property_id`. */
  id: string;
  /** The name of the property. */
  name: string;
  /** The street and number of the property. It may be empty. */
  address: string;
  /** The city of the property. It may be empty. */
  city: string;
  /** The country of the property, as two letters of ISO 3166. */
  country_code: string;
}

/** A reservation. A partner, an OTA or the hotel itself booked it. */
export interface PmsReservation {
  /** The id of the reservation. Paths have it as `booking_id`. */
  id: string;
  /** A short reference that people can read aloud. */
  natural_id: string;
  /** The present status of the reservation. It holds its nights in every status except `cancelled` and `expired`. */
  status: 'pending' | 'confirmed' | 'cancelled' | 'no_show' | 'completed' | 'expired';
  /** The time of arrival in UTC: the property's check-in time on the first day of the stay. */
  check_in_date: string;
  /** The time of departure in UTC: the property's check-out time on the last day of the stay. */
  check_out_date: string;
  /** The booked room type. */
  room_type_id: string | null;
  /** The price of the whole stay, in the currency of the tenant. */
  total_amount: string;
  /** The name of the OTA that sold the stay. Null if it did not come from an OTA. */
  external_source: string | null;
  /** The OTA's own id of the reservation. Null if it did not come from an OTA. */
  external_id: string | null;
  /** The guest of the stay. */
  guest: {
    /** The name of the guest. */
    full_name: string;
    /** The telephone number of the guest. Null if it is unknown. */
    phone: string | null;
    /** The e-mail address of the guest. Null if it is unknown. */
    email: string | null;
  };
}

/** Rooms of one kind, which are sold under one name, with their active rate plans. */
export interface PmsRoomType {
  /** The id of the room type. The inventory call takes it as `room_type_id`. */
  id: string;
  /** The name of the room type, unique within the property. */
  name: string;
  /** The largest number of guests in one room. */
  max_occupancy: number;
  /** The price of one night if the room type has no active rate plan. Null means that no price is set. */
  base_price: string | null;
  /** The active rate plans of the room type. Inactive plans are not shown. */
  rate_plans: RatePlan[];
}

/** The price of one night under a rate plan. */
export interface Rate {
  /** The day on which the night begins. */
  date: string;
  /** The price of the night. If no price was written for the night, it is the plan's `base_price`. */
  price: string;
  /** True if the plan is closed for this night, by a rate or by `stop_sell`. */
  is_sold_out: boolean;
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

/** The new price of one night. */
export interface RateWrite {
  /** The day on which the night begins. It may be in the past. */
  date: string;
  /** The price of the night, 0 to 99999999.99 with at most two decimals. It may be a string or a number. If the currency of the tenant has no decimals, as JPY, it is a whole number. */
  price: string | number;
  /** True closes the plan for this night. False opens it. A missing value counts as false. */
  is_sold_out?: boolean;
}

/** New prices of nights under one rate plan. */
export interface RatesWrite {
  /** The rate plan to change. It may be inactive. */
  rate_plan_id: string;
  /** One entry for each night. If several entries have the same date, the last entry wins. */
  rates: RateWrite[];
}

/** Closes or opens one night, and may set the shortest stay of the plan. */
export interface RestrictionWrite {
  /** The day on which the night begins. It may be in the past. */
  date: string;
  /** True closes the plan for this night. False opens it. A missing value counts as false. */
  stop_sell?: boolean;
  /** The shortest stay under the plan, in nights. It applies to the whole plan and not only to the date of its entry. If several entries have a value, the last one applies. Null or a missing value changes nothing. */
  min_nights?: number | null;
}

/** New restrictions of one rate plan: closed nights and the shortest stay. */
export interface RestrictionsWrite {
  /** The rate plan to change. It may be inactive. */
  rate_plan_id: string;
  /** One entry for each night. If several entries have the same date, the last entry wins. */
  restrictions: RestrictionWrite[];
}

/** The result of the call. */
export interface RestrictionsWritten {
  /** The number of entries in the call, including repeated dates. */
  updated: number;
}

/** Parameters, request body and response of each operation, by operation id. */
export interface Operations {
  /** Read the capacity and the sellable rooms of a room type, night by night */
  pmsGetInventory: {
    query: {
      /** The room type to read. */
      room_type_id: string;
      /** The day on which the first night begins. */
      check_in: string;
      /** The day after the last night. It is after `check_in`, by at most 730 nights. */
      check_out: string;
    };
    answer: InventoryEntry[];
  };
  /** List the properties */
  pmsListProperties: {
    answer: PmsProperty[];
  };
  /** List the room types of a property with their active rate plans */
  pmsListRoomTypes: {
    path: {
      /** The id of the property. A value that is not a UUID gets 404, like an unknown id. */
      property_id: string;
    };
    answer: PmsRoomType[];
  };
  /** Read the price of each night under a rate plan */
  pmsGetRates: {
    query: {
      /** The rate plan to read. It may be inactive. */
      rate_plan_id: string;
      /** The day on which the first night begins. */
      check_in: string;
      /** The day after the last night. It is after `check_in`, by at most 730 nights. */
      check_out: string;
    };
    answer: Rate[];
  };
  /** Write the prices of nights under a rate plan */
  pmsPutRates: {
    body: RatesWrite;
    answer: Rate[];
  };
  /** List at most 200 reservations, with the latest check-in first */
  pmsListReservations: {
    query?: {
      /** Lists only reservations with this status. */
      status?: 'pending' | 'confirmed' | 'cancelled' | 'no_show' | 'completed' | 'expired';
    };
    answer: PmsReservation[];
  };
  /** Read a reservation */
  pmsGetReservation: {
    path: {
      /** The `id` of the reservation. A value that is not a UUID gets 404, like an unknown id. */
      booking_id: string;
    };
    answer: PmsReservation;
  };
  /** Write the restrictions of a rate plan */
  pmsPutRestrictions: {
    body: RestrictionsWrite;
    answer: RestrictionsWritten;
  };
}

/** Method and path of each operation. */
export const ROUTES: Record<keyof Operations, { method: string; path: string }> = {
  pmsGetInventory: { method: 'GET', path: '/v1/channel-manager/pms/inventory/' },
  pmsListProperties: { method: 'GET', path: '/v1/channel-manager/pms/properties/' },
  pmsListRoomTypes: { method: 'GET', path: '/v1/channel-manager/pms/properties/{property_id}/room-types/' },
  pmsGetRates: { method: 'GET', path: '/v1/channel-manager/pms/rates/' },
  pmsPutRates: { method: 'PUT', path: '/v1/channel-manager/pms/rates/' },
  pmsListReservations: { method: 'GET', path: '/v1/channel-manager/pms/reservations/' },
  pmsGetReservation: { method: 'GET', path: '/v1/channel-manager/pms/reservations/{booking_id}/' },
  pmsPutRestrictions: { method: 'PUT', path: '/v1/channel-manager/pms/restrictions/' },
};
