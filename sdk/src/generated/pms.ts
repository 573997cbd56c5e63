/** Written by `npm run generate` from the OpenAPI document of the same name in contract/; do not edit. */

/** What each operation takes and answers with, by operation id. */
export interface Operations {
  /** Read capacity and what is left of a room type, night by night */
  pmsGetInventory: {
    query: {
      room_type_id: string;
      check_in: string;
      check_out: string;
    };
    answer: {
      date: string;
      physical_capacity: number;
      /** below zero after an oversell */
      sellable: number;
    }[];
  };
  /** List the properties */
  pmsListProperties: {
    answer: {
      id: string;
      name: string;
      address: string;
      city: string;
      country_code: string;
    }[];
  };
  /** List a property's room types with their active rate plans */
  pmsListRoomTypes: {
    path: {
      property_id: string;
    };
    answer: {
      id: string;
      name: string;
      max_occupancy: number;
      base_price: string | null;
      rate_plans: {
        id: string;
        name: string;
        base_price: string;
        is_refundable: boolean;
        min_nights: number;
      }[];
    }[];
  };
  /** Read the price of every night under a rate plan */
  pmsGetRates: {
    query: {
      rate_plan_id: string;
      check_in: string;
      check_out: string;
    };
    answer: {
      date: string;
      price: string;
      is_sold_out: boolean;
    }[];
  };
  /** Write prices, all or none */
  pmsPutRates: {
    body: {
      rate_plan_id: string;
      rates: {
        date: string;
        price: string | number;
        is_sold_out?: boolean;
      }[];
    };
    answer: {
      date: string;
      price: string;
      is_sold_out: boolean;
    }[];
  };
  /** List reservations, newest check-in first, at most 200 */
  pmsListReservations: {
    query?: {
      status?: 'pending' | 'confirmed' | 'cancelled' | 'no_show' | 'completed' | 'expired';
    };
    answer: {
      id: string;
      natural_id: string;
      status: 'pending' | 'confirmed' | 'cancelled' | 'no_show' | 'completed' | 'expired';
      check_in_date: string;
      check_out_date: string;
      room_type_id: string | null;
      total_amount: string;
      external_source: string | null;
      external_id: string | null;
      guest: {
        full_name: string;
        phone: string | null;
        email: string | null;
      };
    }[];
  };
  /** Read a reservation */
  pmsGetReservation: {
    path: {
      booking_id: string;
    };
    answer: {
      id: string;
      natural_id: string;
      status: 'pending' | 'confirmed' | 'cancelled' | 'no_show' | 'completed' | 'expired';
      check_in_date: string;
      check_out_date: string;
      room_type_id: string | null;
      total_amount: string;
      external_source: string | null;
      external_id: string | null;
      guest: {
        full_name: string;
        phone: string | null;
        email: string | null;
      };
    };
  };
  /** Write restrictions, all or none */
  pmsPutRestrictions: {
    body: {
      rate_plan_id: string;
      restrictions: {
        date: string;
        stop_sell?: boolean;
        min_nights?: number | null;
      }[];
    };
    answer: {
      updated: number;
    };
  };
}

/** Where each operation is. */
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
