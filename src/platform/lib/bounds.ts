/** What a request may cost at most, beyond what the contract bounds (decision 39). Each is a setting. */
export interface Bounds {
  /** Items of an order. */
  orderItems: number;
  /** Add-ons of one item of an order. */
  itemAddons: number;
  dishes: number;
  /** Variants, add-ons and ingredients of a dish, of each. */
  dishEntries: number;
  /** Bytes of a menu as partners read it. */
  renderedMenuBytes: number;
  /** Streamed lists of one caller that wait for it to read on. */
  waitingStreams: number;
  /** Bytes of request bodies in memory at once. */
  bodyBytes: BodyBounds;
}

/** Bytes of request bodies that are held at once, from their first byte to the end of the answer. */
export interface BodyBounds {
  ofCaller: number;
  ofTenant: number;
  ofProcess: number;
  /** Of everybody together who has not been authenticated. */
  ofStrangers: number;
}

const MIB = 1024 * 1024;

export const DEFAULT_BOUNDS: Bounds = {
  orderItems: 1_000,
  itemAddons: 100,
  dishes: 10_000,
  dishEntries: 200,
  renderedMenuBytes: 32 * MIB,
  waitingStreams: 8,
  bodyBytes: { ofCaller: 8 * MIB, ofTenant: 16 * MIB, ofProcess: 64 * MIB, ofStrangers: 8 * MIB },
};

/** The bounds of lists. */
type ListBound = 'orderItems' | 'itemAddons' | 'dishes' | 'dishEntries';
const KEYWORD = 'x-bound';

/** Keywords of a list whose length is a setting; documents show its default. */
export function boundedBy(bound: ListBound) {
  return { maxItems: DEFAULT_BOUNDS[bound], [KEYWORD]: bound };
}

/** The schema with the lengths of lists as they are set. */
export function withBounds<Schema>(schema: Schema, bounds: Bounds): Schema {
  return JSON.parse(JSON.stringify(schema), (_key, node) =>
    node?.[KEYWORD] === undefined ? node : { ...node, maxItems: bounds[node[KEYWORD] as ListBound] },
  );
}
