import Type from 'typebox';
import { DOCUMENTED } from '#platform/lib/documented.ts';

const NullableTime = (description: string) =>
  Type.Union([Type.String({ format: 'date-time' }), Type.Null()], { description });

/** A platform of the demo tenant's, as the documents show it. */
export const CREDENTIAL_EXAMPLE = {
  id: '01a19b98-4e38-7e26-9b6f-564601a1fe8d',
  label: 'City Delivery',
  api_key: 'rsk_cmLY…Hcvw',
  webhook_url: 'https://partner.example/hooks/roomservice',
  is_active: true,
  created_at: '2026-11-02T09:30:12.408Z',
  last_used_at: '2026-11-20T19:05:31.207Z',
  last_rotated_at: null,
};

/** Marks every field as one that the service alone writes. */
function readOnly<Fields extends Type.TProperties>(fields: Fields): Fields {
  const marked = Object.entries(fields).map(([name, field]) => [name, { ...field, readOnly: true }]);
  return Object.fromEntries(marked) as Fields;
}

/** Contract §2, `IntegrationCredential`. */
export const Credential = Type.Object(
  readOnly({
    id: Type.String({ format: 'uuid', description: 'The id of the credential, to revoke or rotate it by.' }),
    label: Type.String({ description: "The owner's own words for whom it is; empty where none were given." }),
    api_key: Type.String({
      description:
        'The public half, shortened: its first 8 characters, `…` and its last 4. The answers that issue or rotate the credential ' +
        'show it whole. It stays the same when the secret is rotated.',
    }),
    webhook_url: Type.String({
      [DOCUMENTED]: {
        anyOf: [
          { type: 'string', format: 'uri' },
          { type: 'string', maxLength: 0 },
        ],
      },
      description: 'Where events are sent: the URL that the partner registered; an empty text while none is.',
    }),
    is_active: Type.Boolean({ description: 'False once it is revoked, which is for good.' }),
    created_at: NullableTime('When it was made.'),
    last_used_at: NullableTime('When a call last used it, to within a minute; null before the first call.'),
    last_rotated_at: NullableTime('When its secret was last replaced; null while it has its first one.'),
  }),
  {
    title: 'IntegrationCredential',
    description: "A partner's access, without its secret.",
    examples: [CREDENTIAL_EXAMPLE],
  },
);
export type Credential = Type.Static<typeof Credential>;

/** The same for the PMS API, which has no webhooks (decision 17). */
export const PmsCredential = Type.Omit(Credential, ['webhook_url'], {
  title: 'PmsCredential',
  description: "A property management system's access, without its secret.",
  examples: [
    {
      id: '01a19ba3-06dd-70cc-97b6-3f6768cc519b',
      label: 'Front desk PMS',
      api_key: 'rpk_MO94…sf8Q',
      is_active: true,
      created_at: '2026-11-02T09:41:55.037Z',
      last_used_at: null,
      last_rotated_at: null,
    },
  ],
});

const Label = Type.Optional(
  Type.String({
    maxLength: 255,
    default: '',
    description: 'A name to tell credentials apart by. Nothing else is made of it.',
  }),
);

/** Contract §2, `IntegrationCredentialCreate`. */
export const CredentialCreate = Type.Object(
  { label: Label },
  {
    title: 'IntegrationCredentialCreate',
    description: 'What a new credential is called.',
    examples: [{ label: 'City Delivery' }],
  },
);

/** The same for the PMS API. */
export const PmsCredentialCreate = Type.Object(
  { label: Label },
  {
    title: 'PmsCredentialCreate',
    description: 'What a new credential is called.',
    examples: [{ label: 'Front desk PMS' }],
  },
);

const SECRET_FIELDS = {
  id: Type.String({ format: 'uuid', description: 'The id of the credential.' }),
  label: Type.String({ description: 'Its label.' }),
  api_key: Type.String({ description: 'The public half, whole: it names the credential. Lists show it shortened.' }),
  api_secret: Type.String({ description: 'The secret half. It is shown in this answer and never again.' }),
};

/** Contract §2, `IntegrationCredentialSecretResponse`: the only answer that ever holds the secret. */
export const CredentialSecret = Type.Object(SECRET_FIELDS, {
  title: 'IntegrationCredentialSecretResponse',
  description: 'Key and secret together, to be handed to the partner.',
  examples: [
    {
      id: '01a19b98-4e38-7e26-9b6f-564601a1fe8d',
      label: 'City Delivery',
      api_key: 'rsk_cmLYmA0l5iGq574RsMHcvw',
      api_secret: 'rss_example-only-shown-once-keep-it-somewhere-safe',
    },
  ],
});
export type CredentialSecret = Type.Static<typeof CredentialSecret>;

/** The same for the PMS API. */
export const PmsCredentialSecret = Type.Object(SECRET_FIELDS, {
  title: 'PmsCredentialSecret',
  description: 'Key and secret together, to be entered in the property management system.',
  examples: [
    {
      id: '01a19ba3-06dd-70cc-97b6-3f6768cc519b',
      label: 'Front desk PMS',
      api_key: 'rpk_MO94J1LwYWyY4xa7rvsf8Q',
      api_secret: 'rss_example-only-shown-once-keep-it-somewhere-safe',
    },
  ],
});

const pathOf = (example: string) =>
  Type.Object({
    id: Type.String({ description: 'The id of the credential, as the list shows it.', examples: [example] }),
  });
export const CredentialPath = pathOf('01a19b98-4e38-7e26-9b6f-564601a1fe8d');
export const PmsCredentialPath = pathOf('01a19ba3-06dd-70cc-97b6-3f6768cc519b');
