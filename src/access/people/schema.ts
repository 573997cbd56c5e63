import Type from 'typebox';
import { boolean, text, textOrNull, textUpTo, time, timeOrNull, uuid } from '#platform/lib/fields.ts';
import { TRIMMED } from '#platform/lib/unicode.ts';
import { Areas, NewPassword, PersonName, Role } from '../tenants/tenants.ts';

const EXAMPLE = {
  id: '01a19b53-7418-7fd0-8d11-5a0c6b1a2e47',
  name: 'Rui Matos',
  email: 'rui@demo.example',
  role: 'staff' as const,
  areas: ['orders' as const, 'menu' as const],
  is_active: true,
  is_invited: false,
  created_at: '2026-11-02T09:40:12.310Z',
  last_seen_at: '2026-11-20T18:12:31.870Z',
};
const INVITED = { ...EXAMPLE, is_invited: true, last_seen_at: null };
const EXPIRES_AT = '2026-11-23T18:12:40.120Z';

export const Person = Type.Object(
  {
    id: uuid('The id of the person.'),
    name: textOrNull('The name of the person, as other people of the tenant see it. Null if the person has no name.'),
    email: text('The e-mail address that the person signs in with, in lower case.'),
    role: Role,
    areas: Areas,
    is_active: boolean('False if the account is disabled. The person then cannot sign in.'),
    is_invited: boolean(
      'True if the person has not accepted the invitation yet. Until then, the person cannot sign in.',
    ),
    created_at: time('The time at which the person was added.'),
    last_seen_at: timeOrNull(
      'The time of the last call of the person, up to a minute late. Null if there was no call.',
    ),
  },
  { title: 'Person', description: 'An owner or a member of the staff.', examples: [EXAMPLE] },
);
export type Person = Type.Static<typeof Person>;

export const PersonInvite = Type.Object(
  {
    email: textUpTo(
      254,
      'The e-mail address that the person will sign in with. Upper and lower case make no difference.',
      { ...TRIMMED, format: 'email' },
    ),
    name: Type.Optional(PersonName),
    role: Role,
    areas: Type.Optional({
      ...Areas,
      description:
        'The parts of the staff API that the person may use. Without this field, a member of the staff may use no part. An owner may ' +
        'always use all parts.',
    }),
  },
  {
    title: 'PersonInvite',
    description: 'The person to invite.',
    examples: [{ email: INVITED.email, name: INVITED.name, role: INVITED.role, areas: INVITED.areas }],
  },
);
export type PersonInvite = Type.Static<typeof PersonInvite>;

export const PersonChange = Type.Object(
  {
    name: Type.Optional(PersonName),
    role: Type.Optional(Role),
    areas: Type.Optional({
      ...Areas,
      description: 'The parts of the staff API that the person may use. An owner may always use all parts.',
    }),
    is_active: Type.Optional(
      boolean('False disables the account. This ends all sessions, tokens and links of the person.'),
    ),
  },
  {
    title: 'PersonChange',
    description: 'The fields that change. A missing field keeps its value.',
    examples: [{ areas: ['orders', 'menu', 'deliveries'] }],
  },
);
export type PersonChange = Type.Static<typeof PersonChange>;

const ExpiresAt = time('The time at which the link ends: after 3 days.');

export const Invitation = Type.Object(
  {
    person: Person,
    invite_url: text('The link with which the person chooses a password. It works once. No other response shows it.'),
    expires_at: ExpiresAt,
  },
  {
    title: 'Invitation',
    description: 'The invited person, with the link.',
    examples: [
      {
        person: INVITED,
        invite_url: 'https://api.example.com/console/#invite=the-token-of-the-link',
        expires_at: EXPIRES_AT,
      },
    ],
  },
);

export const PasswordReset = Type.Object(
  {
    person: Person,
    reset_url: text(
      'The link with which the person chooses a new password. It works once. No other response shows it. If the person is still invited, ' +
        'the link is a new invitation.',
    ),
    expires_at: ExpiresAt,
  },
  {
    title: 'PasswordReset',
    description: 'The person, with the link.',
    examples: [
      {
        person: EXAMPLE,
        reset_url: 'https://api.example.com/console/#reset=the-token-of-the-link',
        expires_at: EXPIRES_AT,
      },
    ],
  },
);

export const PersonPath = Type.Object({ id: text('The id of the person.', EXAMPLE.id) });

export const WelcomeLink = Type.Object(
  {
    token: textUpTo(200, 'The token of the link: the text after `#welcome=`.', { minLength: 1 }),
  },
  {
    title: 'WelcomeLink',
    description: 'The token of the link that `serve --demo` printed.',
    examples: [{ token: 'the-token-of-the-link' }],
  },
);

export const LinkPassword = Type.Object(
  {
    token: textUpTo(200, 'The token of the link: the text after `#invite=` or `#reset=`.', { minLength: 1 }),
    new_password: NewPassword,
  },
  {
    title: 'LinkPassword',
    description: 'The token of an invitation or a reset, and the password that the person chooses.',
    examples: [{ token: 'the-token-of-the-link', new_password: 'a long password that is new' }],
  },
);
