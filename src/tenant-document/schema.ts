import Type from 'typebox';
import { MenuDocument } from '../menu/menu.ts';
import { PropertyDocument } from '../rooms/rooms.ts';

/** Slugs are for people and command lines. */
const SLUG_PATTERN = '^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$';

const UserDocument = Type.Object({
  email: Type.String({ format: 'email', maxLength: 254 }),
  password: Type.String({ minLength: 12, maxLength: 1024 }),
  role: Type.Enum(['owner', 'staff'], { type: 'string' }),
});

/** One JSON file that describes a whole tenant (decision 37). */
export const TenantDocument = Type.Object({
  slug: Type.String({ pattern: SLUG_PATTERN }),
  name: Type.String({ minLength: 1, maxLength: 255 }),
  currency: Type.String({ pattern: '^[A-Z]{3}$' }),
  timezone: Type.String({ minLength: 1 }),
  features: Type.Array(Type.Enum(['restaurant', 'hotel'], { type: 'string' })),
  users: Type.Optional(Type.Array(UserDocument)),
  menu: Type.Optional(MenuDocument),
  properties: Type.Optional(Type.Array(PropertyDocument)),
});
export type TenantDocument = Type.Static<typeof TenantDocument>;
