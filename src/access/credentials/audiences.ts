/** Names of the headers that carry the API key and the API secret, and the prefix of the API keys, for each of the two APIs. */
export const AUDIENCES = {
  third_party: { headers: 'X-API-Key and X-API-Secret', prefix: 'rsk_' },
  pms: { headers: 'X-PMS-API-Key and X-PMS-API-Secret', prefix: 'rpk_' },
} as const;

/** API that a credential is for: the third-party API or the PMS API. */
export type Audience = keyof typeof AUDIENCES;
