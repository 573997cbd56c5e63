import type { TenantDocument } from '#service/tenant-document/schema.ts';
import { sampleHotel, sampleMenu, sampleTenant } from '../support/tenants.ts';

/** Stands in every text of the other tenant, and in nothing that is ever sent by a case. */
export const RIVAL_MARK = 'Zyxrival';
export const PASSWORD = 'fuzz-password-of-everybody-Qq8';

/** Enough that most sign-ins are within the budget of their e-mail. */
const STAFF_COUNT = 20;

/** The tenant that is fuzzed: both sides, rooms that do not run out and one that does. */
export function houseDocument(slug: string): TenantDocument {
  const staff = Array.from({ length: STAFF_COUNT }, (_, index) => `staff${index}@${slug}.example`);
  return sampleTenant({
    slug,
    features: ['restaurant', 'hotel'],
    users: [
      { email: `owner@${slug}.example`, password: PASSWORD, role: 'owner' },
      ...staff.map((email) => ({ email, password: PASSWORD, role: 'staff' as const })),
    ],
    menu: sampleMenu(),
    properties: sampleHotel().map((property) => ({
      ...property,
      room_types: (property.room_types ?? []).map((roomType) =>
        roomType.name === 'Suite' ? roomType : { ...roomType, physical_capacity: 2_000 },
      ),
    })),
  });
}

/** A tenant with the same keys as the house, whose every text is marked. */
export function rivalDocument(): TenantDocument {
  return { ...marked(houseDocument(RIVAL_MARK.toLowerCase())), name: `${RIVAL_MARK} Inn` };
}

/** A tenant without features: whoever calls in its name is known and turned away. */
export function bareDocument(): TenantDocument {
  const { menu, properties, ...bare } = houseDocument('bare');
  return { ...bare, features: [] };
}

const MARKED = new Set([
  'name',
  'description',
  'address',
  'city',
  'category',
  'kitchen',
  'sub_menu',
  'menu_set',
  'sub_menus',
]);

function marked<T>(value: T, isMarked = false): T {
  if (typeof value === 'string') {
    return (isMarked ? `${RIVAL_MARK} ${value}` : value) as T;
  }
  if (Array.isArray(value)) {
    return value.map((each: unknown) => marked(each, isMarked)) as T;
  }
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, marked(each, MARKED.has(key))])) as T;
  }
  return value;
}
