const KIB = 1024;
const MIB = 1024 * KIB;

/*
 * Bounds on what one request may cost. They are constants, because the limits of the process (places, memory, time of the event loop) are
 * measured with them (docs/limits.md).
 */

/** Largest request body, in bytes. */
export const MAX_BODY_BYTES = 256 * KIB;
/** Largest document that describes a menu or a tenant, in bytes. */
export const MAX_DOCUMENT_BYTES = 4 * MIB;
/** Largest document with prices of staff, in bytes. Its 1,000 entries name both the new and the expected values. */
export const MAX_RATES_DOCUMENT_BYTES = MIB;
/** Largest body of an unauthenticated caller, in bytes. */
export const MAX_STRANGER_BODY_BYTES = 16 * KIB;
/** Largest number of items of an order. */
export const MAX_ORDER_ITEMS = 500;
/** Largest number of items and add-ons of an order together. */
export const MAX_ORDER_PARTS = 2_000;
/** Largest size of the priced lines of an order as JSON, in bytes. */
export const MAX_ORDER_LINES_BYTES = 128 * KIB;
/** Largest number of dishes of a menu. */
export const MAX_DISHES = 5_000;
/** Largest menu in the response to partners, in bytes. */
export const MAX_RENDERED_MENU_BYTES = 16 * MIB;
/** Largest number of entries of any other array in a body. */
export const MAX_ENTRIES = 1_000;
/** Largest number of faults of a body that the response names. */
export const MAX_FAULTS = 50;

/** Upper bounds on the cost of a request, in addition to the bounds in the contract (decision 39). Each bound is a setting. */
export interface Bounds {
  /** Largest number of items in an order. */
  orderItems: number;
  /** Largest number of add-ons of one item of an order. */
  itemAddons: number;
  /** Largest number of dishes on a menu. */
  dishes: number;
  /** Largest number of entries in each of three lists of a dish: its variants, its add-ons and its ingredients. */
  dishEntries: number;
  /** Largest size, in bytes, of a menu in the response to partners. */
  renderedMenuBytes: number;
  /**
   * Largest number of list responses of one caller that may be under way at the same time. A response that waits for a slow reader holds
   * memory.
   */
  waitingStreams: number;
  /** Bounds on the request bodies that are in memory at the same time. */
  bodyBytes: BodyBounds;
}

/**
 * Largest total size, in bytes, of the request bodies in memory at the same time. A body counts from its first byte until its response
 * has ended.
 */
export interface BodyBounds {
  ofCaller: number;
  ofTenant: number;
  ofProcess: number;
  /** Largest total size, in bytes, of the bodies of all unauthenticated callers together. */
  ofStrangers: number;
}

export const DEFAULT_BOUNDS: Bounds = {
  orderItems: 1_000,
  itemAddons: 100,
  dishes: 10_000,
  dishEntries: 200,
  renderedMenuBytes: 32 * MIB,
  waitingStreams: 8,
  bodyBytes: { ofCaller: 8 * MIB, ofTenant: 16 * MIB, ofProcess: 64 * MIB, ofStrangers: 8 * MIB },
};

/** Names of the bounds that limit the length of a list. */
type ListBound = 'orderItems' | 'itemAddons' | 'dishes' | 'dishEntries';
const KEYWORD = 'x-bound';

/** Returns the schema keywords for a list whose maximum length is a setting. The OpenAPI documents show the default of the setting. */
export function boundedBy(bound: ListBound) {
  return { maxItems: DEFAULT_BOUNDS[bound], [KEYWORD]: bound };
}

/** Returns a copy of the schema in which each list that was declared with `boundedBy` gets its maximum length from the given bounds. */
export function withBounds<Schema>(schema: Schema, bounds: Bounds): Schema {
  return JSON.parse(JSON.stringify(schema), (_key, node) =>
    node?.[KEYWORD] === undefined ? node : { ...node, maxItems: bounds[node[KEYWORD] as ListBound] },
  );
}
