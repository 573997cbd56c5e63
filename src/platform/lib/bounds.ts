const KIB = 1024;
const MIB = 1024 * KIB;

/** Bounds on what one request may cost. Places, memory and time of the process are measured with them (docs/guides/limits.md). */

export const MAX_BODY_BYTES = 256 * KIB;
/** Largest document that describes a menu or a tenant, in bytes. */
export const MAX_DOCUMENT_BYTES = 4 * MIB;
/** Largest document with prices of staff, in bytes. Its 1,000 entries name both the new and the expected values. */
export const MAX_RATES_DOCUMENT_BYTES = MIB;
export const MAX_STRANGER_BODY_BYTES = 16 * KIB;
export const MAX_ORDER_ITEMS = 500;
/** Largest number of items and add-ons of an order together. */
export const MAX_ORDER_PARTS = 2_000;
/** Largest size of the priced lines of an order as JSON, in bytes. */
export const MAX_ORDER_LINES_BYTES = 128 * KIB;
export const MAX_DISHES = 5_000;
/** Largest menu in the response to partners, in bytes. */
export const MAX_RENDERED_MENU_BYTES = 16 * MIB;
export const MAX_ENTRIES = 1_000;
export const MAX_FAULTS = 50;
