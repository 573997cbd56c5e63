import Type from 'typebox';

const Uuid = Type.String({ format: 'uuid' });
const NullableTime = Type.Union([Type.String({ format: 'date-time' }), Type.Null()]);

/** Contract §2, `IntegrationCredential`. */
export const Credential = Type.Object({
  id: Uuid,
  label: Type.String(),
  api_key: Type.String(),
  webhook_url: Type.String({ description: 'empty while no webhook is registered' }),
  is_active: Type.Boolean(),
  created_at: NullableTime,
  last_used_at: NullableTime,
  last_rotated_at: NullableTime,
});
export type Credential = Type.Static<typeof Credential>;

/** The same for the PMS API, which has no webhooks (decision 17). */
export const PmsCredential = Type.Omit(Credential, ['webhook_url']);

/** Contract §2, `IntegrationCredentialCreate`. */
export const CredentialCreate = Type.Object({
  label: Type.Optional(Type.String({ maxLength: 255 })),
});

/** Contract §2, `IntegrationCredentialSecretResponse`: the only answer that ever holds the secret. */
export const CredentialSecret = Type.Object({
  id: Uuid,
  label: Type.String(),
  api_key: Type.String(),
  api_secret: Type.String(),
});
export type CredentialSecret = Type.Static<typeof CredentialSecret>;

export const CredentialPath = Type.Object({ id: Type.String() });
