import type { TenantDocument } from '#service/tenant-document/schema.ts';
import { sampleHotel, sampleMenu, sampleTenant } from '../../support/tenants.ts';

/** Word that every free text of the second tenant contains, and no generated request. A response that contains it leaks data. */
export const RIVAL_MARK = 'Zyxrival';
export const PASSWORD = 'fuzz-password-of-everybody-Qq8';
/** With so many users, most sign-ins stay within the limit for each e-mail address. */
const STAFF_COUNT = 20;

/** Returns the document of the first tenant. Its room type Suite has one room, so it is soon fully booked. The others have 2,000. */
export function fuzzedDocument(slug: string): TenantDocument {
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

/** Returns the document of the second tenant, which has the same structure and SKUs. No response may show its data. */
export function rivalDocument(): TenantDocument {
  return { ...marked(fuzzedDocument(RIVAL_MARK.toLowerCase())), name: `${RIVAL_MARK} Inn` };
}

export function bareDocument(): TenantDocument {
  const { menu, properties, ...bare } = fuzzedDocument('bare');
  return { ...bare, features: [] };
}

const MARKED = /^(?:name|description|address|city|category|kitchen|sub_menu|menu_set|sub_menus)$/;

function marked<T>(value: T, isMarked = false): T {
  if (typeof value === 'string') {
    return (isMarked ? `${RIVAL_MARK} ${value}` : value) as T;
  }
  if (Array.isArray(value)) {
    return value.map((each: unknown) => marked(each, isMarked)) as T;
  }
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, marked(each, MARKED.test(key))])) as T;
  }
  return value;
}
