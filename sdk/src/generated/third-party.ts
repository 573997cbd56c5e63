/** Written by `npm run generate` from the OpenAPI document of the same name in contract/; do not edit. */

/** What each operation takes and answers with, by operation id. */
export interface Operations {
  /** Read the credential's own events after a cursor, oldest first, with their delivery */
  listEvents: {
    query?: {
      /** `next` of the answer before; without it, or empty, the feed begins with the oldest event there is; `latest` shows no event, and its `next` is where the feed ends: what happens after the answer comes after it */
      after?: string;
      limit?: number;
    };
    answer: {
      results: {
        cursor: string;
        event: string;
        event_id: string;
        occurred_at: string;
        data: Record<string, string>;
        /** null where no webhook was registered when it happened */
        delivery: {
          status: 'pending' | 'delivered' | 'failed' | 'stopped';
          attempts: {
            at: string;
            http_status: number | null;
            duration_ms: number | null;
            error: string | null;
          }[];
        } | null;
      }[];
      /** where to go on: `after` of the next call */
      next: string;
    };
  };
  /** Read what can be sold of a room type, night by night */
  getAvailability: {
    query: {
      room_type_id: string;
      check_in: string;
      check_out: string;
    };
    answer: {
      room_type_id: string;
      name: string;
      base_price: string | null;
      days: {
        date: string;
        sellable: number;
      }[];
    };
  };
  /** List the reservations this credential has booked */
  listReservations: {
    query?: {
      page?: number;
      page_size?: number;
    };
    answer:
      | {
          success: boolean;
          reservation_id: string;
          external_reservation_id: string;
          status: 'pending' | 'confirmed' | 'cancelled' | 'no_show' | 'completed' | 'expired';
          room_type_id: string;
          check_in: string;
          check_out: string;
          guests: number;
          total_amount: string;
          currency: string;
          created_at: string;
        }[]
      | {
          count: number;
          next: string | null;
          previous: string | null;
          results: {
            success: boolean;
            reservation_id: string;
            external_reservation_id: string;
            status: 'pending' | 'confirmed' | 'cancelled' | 'no_show' | 'completed' | 'expired';
            room_type_id: string;
            check_in: string;
            check_out: string;
            guests: number;
            total_amount: string;
            currency: string;
            created_at: string;
          }[];
        };
  };
  /** Book a stay, once per external_reservation_id */
  createReservation: {
    body: {
      /** the caller's own id; idempotency key */
      external_reservation_id: string;
      room_type_id: string;
      check_in: string;
      check_out: string;
      guests?: number;
      guest: {
        name: string;
        phone: string;
        email?: string;
      };
    };
    answer: {
      success: boolean;
      reservation_id: string;
      external_reservation_id: string;
      status: 'pending' | 'confirmed' | 'cancelled' | 'no_show' | 'completed' | 'expired';
      room_type_id: string;
      check_in: string;
      check_out: string;
      guests: number;
      total_amount: string;
      currency: string;
      created_at: string;
    };
  };
  /** Read a reservation */
  getReservation: {
    path: {
      external_reservation_id: string;
    };
    answer: {
      success: boolean;
      reservation_id: string;
      external_reservation_id: string;
      status: 'pending' | 'confirmed' | 'cancelled' | 'no_show' | 'completed' | 'expired';
      room_type_id: string;
      check_in: string;
      check_out: string;
      guests: number;
      total_amount: string;
      currency: string;
      created_at: string;
    };
  };
  /** Cancel a reservation */
  cancelReservation: {
    path: {
      external_reservation_id: string;
    };
    answer: {
      success: boolean;
      reservation_id: string;
      external_reservation_id: string;
      status: 'pending' | 'confirmed' | 'cancelled' | 'no_show' | 'completed' | 'expired';
      room_type_id: string;
      check_in: string;
      check_out: string;
      guests: number;
      total_amount: string;
      currency: string;
      created_at: string;
    };
  };
  /** List the room types */
  listRoomTypes: {
    query?: {
      page?: number;
      page_size?: number;
    };
    answer:
      | {
          room_type_id: string;
          name: string;
          description: string;
          max_occupancy: number;
          base_price: string | null;
          currency: string;
          property: {
            id: string;
            name: string;
            city: string;
            country_code: string;
          };
          amenities: string[];
          images: string[];
        }[]
      | {
          count: number;
          next: string | null;
          previous: string | null;
          results: {
            room_type_id: string;
            name: string;
            description: string;
            max_occupancy: number;
            base_price: string | null;
            currency: string;
            property: {
              id: string;
              name: string;
              city: string;
              country_code: string;
            };
            amenities: string[];
            images: string[];
          }[];
        };
  };
  /** Read the menu */
  getMenu: {
    query?: {
      page?: number;
      page_size?: number;
    };
    answer:
      | {
          id: string;
          sku: string;
          name: string;
          description: string;
          dish_type: 'veg' | 'non_veg' | 'halal' | 'vegan' | 'gluten_free' | 'sugar_free' | '' | null;
          price: string;
          currency: string;
          is_active: boolean;
          is_taxable: boolean;
          extra_tax_percentage: string;
          image: string | null;
          category: {
            id: string;
            name: string;
            dish_count: string;
            description: string;
            image: string | null;
            ticket_type: string | null;
            tenant: number;
            sub_menu: string | null;
            menu_set: string | null;
            created_at: string;
            updated_at: string;
            deleted_at: string | null;
            restored_at: string | null;
            transaction_id: string | null;
          };
          sub_menu: {
            id: string;
            name: string;
            is_active: boolean;
          };
          kitchen: {
            id: string;
            name: string;
            description: string;
            hotel_id: string | null;
            stock_location_id: string | null;
            created_at: string;
            updated_at: string;
          };
          menu_set: {
            id: string;
            name: string;
            service: 'all_day' | 'breakfast' | 'lunch' | 'dinner';
            status: 'active' | 'inactive';
            tenant: number;
            sub_menus: {
              id: string;
              name: string;
              is_active: boolean;
            }[];
            created_at: string;
            updated_at: string;
          };
          price_variants: {
            id: string;
            name: string;
            price: string;
            currency: string;
          }[];
          addons: {
            id: string;
            name: string;
            price: string;
            image: string | null;
            dish_type: 'veg' | 'non_veg' | 'halal' | 'vegan' | 'gluten_free' | 'sugar_free' | '' | null;
            is_active: boolean;
          }[];
        }[]
      | {
          count: number;
          next: string | null;
          previous: string | null;
          results: {
            id: string;
            sku: string;
            name: string;
            description: string;
            dish_type: 'veg' | 'non_veg' | 'halal' | 'vegan' | 'gluten_free' | 'sugar_free' | '' | null;
            price: string;
            currency: string;
            is_active: boolean;
            is_taxable: boolean;
            extra_tax_percentage: string;
            image: string | null;
            category: {
              id: string;
              name: string;
              dish_count: string;
              description: string;
              image: string | null;
              ticket_type: string | null;
              tenant: number;
              sub_menu: string | null;
              menu_set: string | null;
              created_at: string;
              updated_at: string;
              deleted_at: string | null;
              restored_at: string | null;
              transaction_id: string | null;
            };
            sub_menu: {
              id: string;
              name: string;
              is_active: boolean;
            };
            kitchen: {
              id: string;
              name: string;
              description: string;
              hotel_id: string | null;
              stock_location_id: string | null;
              created_at: string;
              updated_at: string;
            };
            menu_set: {
              id: string;
              name: string;
              service: 'all_day' | 'breakfast' | 'lunch' | 'dinner';
              status: 'active' | 'inactive';
              tenant: number;
              sub_menus: {
                id: string;
                name: string;
                is_active: boolean;
              }[];
              created_at: string;
              updated_at: string;
            };
            price_variants: {
              id: string;
              name: string;
              price: string;
              currency: string;
            }[];
            addons: {
              id: string;
              name: string;
              price: string;
              image: string | null;
              dish_type: 'veg' | 'non_veg' | 'halal' | 'vegan' | 'gluten_free' | 'sugar_free' | '' | null;
              is_active: boolean;
            }[];
          }[];
        };
  };
  /** List the orders this credential has placed */
  listOrders: {
    query?: {
      page?: number;
      page_size?: number;
    };
    answer:
      | {
          success: boolean;
          order_id: string;
          external_order_id: string;
          status: 'pending' | 'confirmed' | 'preparing' | 'ready' | 'out_for_delivery' | 'completed' | 'cancelled';
        }[]
      | {
          count: number;
          next: string | null;
          previous: string | null;
          results: {
            success: boolean;
            order_id: string;
            external_order_id: string;
            status: 'pending' | 'confirmed' | 'preparing' | 'ready' | 'out_for_delivery' | 'completed' | 'cancelled';
          }[];
        };
  };
  /** Place an order, once per external_order_id */
  createOrder: {
    body: {
      /** the caller's own id; idempotency key */
      external_order_id: string;
      items: {
        /** the sku of a dish on the menu */
        item_id: string;
        quantity: number;
        variant_id?: string;
        addons?: {
          addon_id: string;
          quantity?: number;
        }[];
      }[];
      order_type?: 'delivery' | 'take_away' | 'pick_up';
      customer?: {
        name?: string;
        phone?: string;
      };
      delivery_address?: string;
      notes?: string;
    };
    answer: {
      success: boolean;
      order_id: string;
      external_order_id: string;
      status: 'pending' | 'confirmed' | 'preparing' | 'ready' | 'out_for_delivery' | 'completed' | 'cancelled';
    };
  };
  /** Read an order */
  getOrder: {
    path: {
      external_order_id: string;
    };
    answer: {
      success: boolean;
      order_id: string;
      external_order_id: string;
      status: 'pending' | 'confirmed' | 'preparing' | 'ready' | 'out_for_delivery' | 'completed' | 'cancelled';
    };
  };
  /** Cancel an order */
  cancelOrder: {
    path: {
      external_order_id: string;
    };
    answer: {
      success: boolean;
      order_id: string;
      external_order_id: string;
      status: 'pending' | 'confirmed' | 'preparing' | 'ready' | 'out_for_delivery' | 'completed' | 'cancelled';
    };
  };
  /** Register the URL that events are sent to */
  registerWebhook: {
    body: {
      /** an https URL of at most 2,048 characters */
      webhook_url: string;
    };
    answer: {
      webhook_url: string;
      /** shown once; empty when the URL was registered already */
      webhook_secret: string;
    };
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
