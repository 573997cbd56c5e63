import Type from 'typebox';
import { UserDocument } from '#access/tenants/tenants.ts';
import { MenuDocument } from '#restaurant/menu/menu.ts';
import { PropertyDocument } from '#hotel/rooms/rooms.ts';
import { matching } from '#platform/lib/patterns.ts';

/** Schema keywords of the slug of a tenant: short and in lower case, because people type it on command lines. */
const SLUG = matching(
  '^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$',
  'must be 1 to 64 lower-case letters, digits and hyphens, such as "my-hotel", without a hyphen at its start or end',
);

/** Schema of the JSON file that describes a whole tenant (docs/guarantees/tenant-document.md). */
export const TenantDocument = Type.Object(
  {
    slug: Type.String({
      ...SLUG,
      description: 'Short name that identifies the tenant. It never changes.',
    }),
    name: Type.String({ minLength: 1, maxLength: 255, description: 'Name of the tenant for people.' }),
    currency: Type.String({
      ...matching('^[A-Z]{3}$', 'must be a currency code of three capital letters, such as "EUR"'),
      description:
        'Currency of every amount, as three letters of ISO 4217. An amount has decimals only if the currency has some. A currency with ' +
        'three decimals cannot be used yet.',
    }),
    timezone: Type.String({ minLength: 1, description: 'IANA name of the time zone, such as `Europe/Lisbon`.' }),
    features: Type.Array(Type.Enum(['restaurant', 'hotel'], { type: 'string' }), {
      description: 'Modules that the tenant may use.',
    }),
    users: Type.Optional(
      Type.Array(UserDocument, {
        description:
          'Users who may sign in. A user whom the document no longer names is disabled. The last active owner cannot be disabled.',
      }),
    ),
    menu: Type.Optional({
      ...MenuDocument,
      description: 'The menu of the restaurant. A dish that the document no longer names becomes inactive.',
    }),
    properties: Type.Optional(
      Type.Array(PropertyDocument, {
        description: 'Properties of the hotel. A property that the document no longer names becomes inactive.',
      }),
    ),
  },
  { title: 'TenantDocument', description: 'A whole tenant. An optional part that is left out stays as it is.' },
);
export type TenantDocument = Type.Static<typeof TenantDocument>;
