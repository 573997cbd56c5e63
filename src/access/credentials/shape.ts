import { shortenKey } from './api-key.ts';
import type { Credential } from './schema.ts';
import type { CredentialRow } from './store.ts';

/** Returns a credential as the API shows it (contract §2, `IntegrationCredential`). */
export function credentialShape(row: CredentialRow): Credential {
  return {
    id: row.id,
    label: row.label,
    api_key: shortenKey(row.api_key),
    webhook_url: row.webhook_url,
    is_active: row.is_active,
    created_at: row.created_at.toISOString(),
    last_used_at: row.last_used_at?.toISOString() ?? null,
    last_rotated_at: row.last_rotated_at?.toISOString() ?? null,
  };
}
