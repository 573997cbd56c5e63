import Type from 'typebox';
import { MenuDocument } from '#restaurant/menu/menu.ts';
import { PropertyDocument } from '#hotel/rooms/rooms.ts';

/** Slugs are for people and command lines. */
const SLUG_PATTERN = '^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$';

const UserDocument = Type.Object({
  email: Type.String({
    format: 'email',
    maxLength: 254,
    description: 'What they sign in with, unique over all tenants.',
  }),
  password: Type.Optional(
    Type.String({
      minLength: 12,
      maxLength: 1024,
      description: 'Kept as a hash alone. A user who is there already may go without: the password stays as it is.',
    }),
  ),
  role: Type.Enum(['owner', 'staff'], { type: 'string', description: 'The owner may do everything.' }),
});

/** One JSON file that describes a whole tenant (decision 37). */
export const TenantDocument = Type.Object(
  {
    slug: Type.String({ pattern: SLUG_PATTERN, description: 'What the tenant is known by; it never changes.' }),
    name: Type.String({ minLength: 1, maxLength: 255, description: 'Its name, for people.' }),
    currency: Type.String({ pattern: '^[A-Z]{3}$', description: 'Of every amount, three letters of ISO 4217.' }),
    timezone: Type.String({ minLength: 1, description: 'An IANA name, such as `Europe/Lisbon`.' }),
    features: Type.Array(Type.Enum(['restaurant', 'hotel'], { type: 'string' }), {
      description: 'The modules that are open to it.',
    }),
    users: Type.Optional(
      Type.Array(UserDocument, {
        description: 'Who may sign in. One whom it no longer names is disabled, but never the last owner.',
      }),
    ),
    menu: Type.Optional(MenuDocument),
    properties: Type.Optional(
      Type.Array(PropertyDocument, { description: 'The houses. What is no longer named becomes inactive.' }),
    ),
  },
  { title: 'TenantDocument', description: 'A whole tenant. A part that is left out stays as it is.' },
);
export type TenantDocument = Type.Static<typeof TenantDocument>;
