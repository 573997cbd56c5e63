import Type from 'typebox';
import { integer, oneOf, text, textUpTo } from '#platform/lib/fields.ts';
import { PASSWORD_KEYWORD, TRIMMED } from '#platform/lib/unicode.ts';

export const Feature = oneOf(
  ['restaurant', 'hotel'],
  'A feature of the tenant. It opens the operations of the restaurant or of the hotel.',
);
export type Feature = 'restaurant' | 'hotel';

export const Role = oneOf(
  ['owner', 'staff'],
  'An owner may call all operations. Staff may call the operations of their areas. They may not read or change ' +
    'credentials, channels or the audit trail.',
);
export type Role = 'owner' | 'staff';

/** Parts of the staff API that a member of the staff or a display may use, in the order in which lists show them. */
export const AREAS = ['orders', 'menu', 'hotel', 'rates', 'deliveries'] as const;
export type Area = (typeof AREAS)[number];
/** Areas of a member of the staff for whom a tenant document names no areas. */
export const DOCUMENT_AREAS: readonly Area[] = AREAS.filter((area) => area !== 'rates');

export const Areas = Type.Array(Type.Enum([...AREAS], { type: 'string' }), {
  maxItems: AREAS.length,
  description:
    'The parts of the staff API that the person or display may use. `orders`: orders and pauses. `menu`: the menu. `hotel`: stays and ' +
    'the calendar. `rates`: changes of prices and restrictions. `deliveries`: deliveries and events. An owner has all areas.',
});

export function orderedAreas(areas: readonly string[]): Area[] {
  return AREAS.filter((area) => areas.includes(area));
}

export const PersonName = textUpTo(100, 'The name of the person for other people of the tenant.', {
  ...TRIMMED,
  minLength: 1,
});

export const Password = Type.String({
  minLength: 1,
  maxLength: 1024,
  [PASSWORD_KEYWORD]: true,
  description: 'The password of the account.',
});

export const NewPassword = Type.String({ ...Password, minLength: 12, description: 'The new password.' });

/** One user in a tenant document. */
export const UserDocument = Type.Object({
  email: textUpTo(254, 'E-mail address that the user signs in with. It is unique across all tenants.', {
    ...TRIMMED,
    format: 'email',
  }),
  password: Type.Optional({
    ...NewPassword,
    description:
      'Stored only as a hash. It may be left out for a user who already exists; the password then stays as it is.',
  }),
  role: oneOf(['owner', 'staff'], 'An owner may do everything.'),
  name: Type.Optional({
    ...PersonName,
    description: 'Name of the user for other people of the tenant. If it is left out, the stored name stays.',
  }),
  areas: Type.Optional({
    ...Areas,
    description:
      'Parts of the staff API that the user may use. If `areas` is left out, new staff get all areas except `rates`. An owner ' +
      'has all areas.',
  }),
});
export type UserDocument = Type.Static<typeof UserDocument>;

export const SignInEmail = textUpTo(
  254,
  'The e-mail address of the account. Upper and lower case make no difference.',
  { ...TRIMMED, minLength: 1 },
);

export const SignInRequest = Type.Object(
  {
    email: SignInEmail,
    password: Password,
  },
  {
    title: 'SignInRequest',
    description: 'E-mail and password of the user who signs in.',
    examples: [{ email: 'owner@demo.example', password: 'the password that the start printed' }],
  },
);

export const SignInResponse = Type.Object(
  {
    access_token: text('A JWT. Send it as `Authorization: Bearer <access_token>`.'),
    token_type: oneOf(['Bearer'], 'Always `Bearer`.'),
    expires_in: integer('The lifetime of the token in seconds: 8 hours. Then sign in again.'),
    role: Role,
    tenant: Type.Object(
      {
        id: integer('The number of the tenant.'),
        name: text('The display name of the tenant.'),
        features: Type.Array(Feature, { description: 'The features of the tenant.' }),
      },
      { description: 'The tenant of the account. Every call with the token acts for this tenant.' },
    ),
  },
  {
    title: 'SignInResponse',
    description: 'An access token, with the role and the tenant that it is for.',
    examples: [
      {
        access_token: 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJ0ZW5hbnQiOjF9.bm90LWEtcmVhbC1zaWduYXR1cmU',
        token_type: 'Bearer',
        expires_in: 28_800,
        role: 'owner',
        tenant: { id: 1, name: 'Harbour House', features: ['restaurant', 'hotel'] },
      },
    ],
  },
);
