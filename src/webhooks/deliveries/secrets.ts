import { webhookSecretLocation } from '#access/credentials/credentials.ts';
import type { Keyring } from '#platform/keys/keys.ts';

/** Credential whose webhook secret is stored encrypted. */
interface SecretHolder {
  tenantId: number;
  credentialId: string;
  webhookSecret: Buffer;
}

/**
 * Returns a function that decrypts webhook secrets, each one only at its first call. The decrypted secrets are in memory only as long as
 * the function. So the caller makes one function for the deliveries of one claim.
 */
export function createDecrypter(keyring: Keyring): (holder: SecretHolder) => string {
  const secrets = new Map<string, string>();
  return ({ tenantId, credentialId, webhookSecret }) => {
    const secret = secrets.get(credentialId) ?? decrypt(keyring, { tenantId, credentialId, webhookSecret });
    secrets.set(credentialId, secret);
    return secret;
  };
}

function decrypt(keyring: Keyring, { tenantId, credentialId, webhookSecret }: SecretHolder): string {
  try {
    return keyring.decrypt(webhookSecret, webhookSecretLocation(tenantId, credentialId));
  } catch (cause) {
    throw new Error('The webhook secret cannot be decrypted, so the message was not sent.', { cause });
  }
}
