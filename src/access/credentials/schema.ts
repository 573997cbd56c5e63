import Type from 'typebox';
import { boolean, text, timeOrNull, uuid } from '#platform/lib/fields.ts';
import { DOCUMENTED } from '#platform/lib/documented.ts';

/** Example of a credential in the OpenAPI documents: one that the demo tenant has issued to a delivery platform. */
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

/** Marks every field as `readOnly` in the OpenAPI documents, because only the service writes these fields. */
function readOnly<Fields extends Type.TProperties>(fields: Fields): Fields {
  const marked = Object.entries(fields).map(([name, field]) => [name, { ...field, readOnly: true }]);
  return Object.fromEntries(marked) as Fields;
}

export const Credential = Type.Object(
  readOnly({
    id: uuid('The id of the credential. Revoking and rotating need it.'),
    label: text('The name that the owner gave to the credential. Empty if the owner gave no name.'),
    api_key: text(
      'The API key, shortened to its first 8 characters, `…` and its last 4 characters. The responses that issue or ' +
        'rotate the credential show the whole key. The key stays the same when the secret is rotated.',
    ),
    webhook_url: Type.String({
      [DOCUMENTED]: {
        anyOf: [
          { type: 'string', format: 'uri' },
          { type: 'string', maxLength: 0 },
        ],
      },
      description: 'The URL that the partner registered to receive events. Empty if the partner registered no URL.',
    }),
    is_active: boolean('False if the credential is revoked. A revoked credential stays revoked.'),
    created_at: timeOrNull('The time when the credential was created.'),
    last_used_at: timeOrNull(
      'The time of the last call with the credential, up to a minute late. Null before the first call.',
    ),
    last_rotated_at: timeOrNull('The time when the secret was last replaced. Null if it was never replaced.'),
  }),
  {
    title: 'IntegrationCredential',
    description: 'A credential of a partner, without its secret.',
    examples: [CREDENTIAL_EXAMPLE],
  },
);
export type Credential = Type.Static<typeof Credential>;

const PMS_EXAMPLE = {
  id: '01a19ba3-06dd-70cc-97b6-3f6768cc519b',
  label: 'Front desk PMS',
  api_key: 'rpk_MO94…sf8Q',
  is_active: true,
  created_at: '2026-11-02T09:41:55.037Z',
  last_used_at: null,
  last_rotated_at: null,
};

/** Credential of a PMS. It has no `webhook_url`, because the PMS API has no webhooks (rule 17). */
export const PmsCredential = Type.Omit(Credential, ['webhook_url'], {
  title: 'PmsCredential',
  description: 'A credential of a property management system, without its secret.',
  examples: [PMS_EXAMPLE],
});

const Label = Type.Optional(
  Type.String({
    maxLength: 255,
    default: '',
    description: 'A name for the credential, so that the owner can tell credentials apart. It has no other effect.',
  }),
);

const createOf = (title: string, label: string) =>
  Type.Object({ label: Label }, { title, description: 'The label of a new credential.', examples: [{ label }] });
export const CredentialCreate = createOf('IntegrationCredentialCreate', 'City Delivery');
export const PmsCredentialCreate = createOf('PmsCredentialCreate', 'Front desk PMS');

const secretOf = (title: string, use: string, example: { id: string; label: string; api_key: string }) =>
  Type.Object(
    {
      id: uuid('The id of the credential.'),
      label: text('The label of the credential.'),
      api_key: text('The whole API key, which identifies the credential. Lists show it shortened.'),
      api_secret: text('The API secret. Only this response shows it.'),
    },
    {
      title,
      description: `API key and API secret of a credential. ${use}`,
      examples: [{ ...example, api_secret: 'rss_example-only-shown-once-keep-it-somewhere-safe' }],
    },
  );
export const CredentialSecret = secretOf('IntegrationCredentialSecretResponse', 'Give both to the partner.', {
  id: CREDENTIAL_EXAMPLE.id,
  label: CREDENTIAL_EXAMPLE.label,
  api_key: 'rsk_cmLYmA0l5iGq574RsMHcvw',
});
export type CredentialSecret = Type.Static<typeof CredentialSecret>;
export const PmsCredentialSecret = secretOf('PmsCredentialSecret', 'Enter both in the property management system.', {
  id: PMS_EXAMPLE.id,
  label: PMS_EXAMPLE.label,
  api_key: 'rpk_MO94J1LwYWyY4xa7rvsf8Q',
});

const pathOf = ({ id }: { id: string }) =>
  Type.Object({ id: text('The id of the credential, from the list of credentials.', id) });
export const CredentialPath = pathOf(CREDENTIAL_EXAMPLE);
export const PmsCredentialPath = pathOf(PMS_EXAMPLE);
