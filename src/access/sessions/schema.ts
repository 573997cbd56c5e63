import Type from 'typebox';
import { boolean, integer, oneOf, orNull, text, textOrNull, time, uuid, uuidOrNull } from '#platform/lib/fields.ts';
import { matching } from '#platform/lib/patterns.ts';
import { Areas, FeatureName, NewPassword, Password, PersonName, Role, SignInEmail } from '../tenants/tenants.ts';

const MePerson = Type.Object({
  id: uuid('The id of the person.'),
  name: textOrNull('The name of the person, as other people of the tenant see it. Null if the person has no name.'),
  email: text('The e-mail address that the person signs in with.'),
  role: Role,
  areas: Areas,
  language: textOrNull(
    'The language that the person has chosen, as a BCP 47 tag. Null if the person has chosen no language.',
  ),
});

const MeDisplay = Type.Object({
  id: uuid('The id of the display.'),
  label: text('The label that the owner gave to the display.'),
  areas: Areas,
});

const MeTenant = Type.Object(
  {
    id: integer('The number of the tenant.'),
    slug: text('The short name of the tenant.'),
    name: text('The display name of the tenant.'),
    currency: text('The currency of every amount, as three letters of ISO 4217.'),
    timezone: text('The IANA name of the time zone.'),
    features: Type.Array(FeatureName, { description: 'The features of the tenant.' }),
  },
  { description: 'The tenant of the caller. Every call acts for this tenant.' },
);

const MeSession = Type.Object(
  {
    id: uuidOrNull('The id of the session. Null for a token.'),
    kind: oneOf(
      ['person', 'display', 'token'],
      '`person` or `display`: the call came with a session cookie. `token`: the call came with a bearer token.',
    ),
    expires_at: time('The end of the session if it is not used again after this call, or the end of the token.'),
  },
  { description: 'The session or the token of this call.' },
);

const MeService = Type.Object(
  {
    now: time('The time of this call by the clock of the database.'),
    version: text('The version of the service.'),
    sandbox: boolean('True for the demo tenant, whose orders and reservations a simulated staff also changes.'),
    event_retention_days: integer('The number of days for which events are kept.'),
    rate_limit_per_minute: integer('The number of calls that each partner may make in a minute.'),
    webhook_header_brand: text('The brand in the header names of webhook deliveries.'),
  },
  { description: 'Facts about the service.' },
);

const PERSON_EXAMPLE = {
  id: '01a19b53-7418-74c1-8296-97ee358715d3',
  name: 'Rita Fonseca',
  email: 'owner@demo.example',
  role: 'owner',
  areas: ['orders', 'menu', 'hotel', 'rates', 'deliveries'],
  language: 'pt',
};

export const Me = Type.Object(
  {
    person: orNull(MePerson, 'The person who calls. Null for a display.'),
    display: orNull(MeDisplay, 'The display that calls. Null for a person.'),
    tenant: MeTenant,
    session: MeSession,
    service: MeService,
  },
  {
    title: 'Me',
    description: 'The caller, with the tenant, the session and the service.',
    examples: [
      {
        person: PERSON_EXAMPLE,
        display: null,
        tenant: {
          id: 1,
          slug: 'harbour-house',
          name: 'Harbour House',
          currency: 'EUR',
          timezone: 'Europe/Lisbon',
          features: ['restaurant', 'hotel'],
        },
        session: {
          id: '01a1fa2c-9a40-7c11-a2a6-3f5e0c2d9b10',
          kind: 'person',
          expires_at: '2026-11-21T06:12:40.120Z',
        },
        service: {
          now: '2026-11-20T18:12:40.120Z',
          version: '1.1.0',
          sandbox: true,
          event_retention_days: 30,
          rate_limit_per_minute: 300,
          webhook_header_brand: 'Service',
        },
      },
    ],
  },
);
export type Me = Type.Static<typeof Me>;

export const SessionStart = Type.Object(
  {
    email: Type.Optional(SignInEmail),
    password: Type.Optional(Password),
  },
  {
    title: 'SessionStart',
    description: 'E-mail and password. Both are left out beside a bearer token of the identity provider.',
    examples: [{ email: 'owner@demo.example', password: 'the password that the start printed' }],
  },
);

export const MeChange = Type.Object(
  {
    name: Type.Optional(PersonName),
    language: Type.Optional(
      Type.String({
        maxLength: 35,
        ...matching('^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$', 'must be a language tag such as "pt" or "pt-BR"'),
        description: 'The language of the person, as a BCP 47 tag.',
      }),
    ),
  },
  {
    title: 'MeChange',
    description: 'The fields that change. A missing field keeps its value.',
    examples: [{ name: 'Rita Fonseca', language: 'pt' }],
  },
);
export type MeChange = Type.Static<typeof MeChange>;

export const PasswordChange = Type.Object(
  {
    current_password: Type.String({ ...Password, description: 'The password of the person now.' }),
    new_password: NewPassword,
  },
  {
    title: 'PasswordChange',
    description: 'The current and the new password.',
    examples: [{ current_password: 'the password until now', new_password: 'a long password that is new' }],
  },
);

export const Session = Type.Object(
  {
    id: uuid('The id of the session. The call that ends the session needs it.'),
    person_id: uuidOrNull('The id of the person. Null for a display.'),
    display_id: uuidOrNull('The id of the display. Null for a person.'),
    kind: oneOf(['person', 'display'], 'The kind of caller that has the session.'),
    created_at: time('The time of the sign-in.'),
    last_used_at: time('The time of the last call, up to a minute late.'),
    address: text('The client address of the sign-in.'),
    user_agent: text('The header `User-Agent` of the sign-in, or its beginning. May be empty.'),
    is_current: boolean('True for the session of this call.'),
  },
  {
    title: 'Session',
    description: 'A session of a person or a display in a browser.',
    examples: [
      {
        id: '01a1fa2c-9a40-7c11-a2a6-3f5e0c2d9b10',
        person_id: PERSON_EXAMPLE.id,
        display_id: null,
        kind: 'person',
        created_at: '2026-11-20T09:02:11.004Z',
        last_used_at: '2026-11-20T18:12:31.870Z',
        address: '192.0.2.17',
        user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0',
        is_current: true,
      },
    ],
  },
);
export type Session = Type.Static<typeof Session>;

export const SessionQuery = Type.Object({
  person_id: Type.Optional(
    uuid(
      'The id of a person. Without it, the list shows the sessions of the caller. Only an owner may name another person.',
      PERSON_EXAMPLE.id,
    ),
  ),
});

export const SessionPath = Type.Object({
  id: text('The id of the session.', '01a1fa2c-9a40-7c11-a2a6-3f5e0c2d9b10'),
});
