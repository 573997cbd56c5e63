/** The headers a credential is shown in, and the prefix of its key, for each of the two APIs. */
export const AUDIENCES = {
  third_party: { headers: 'X-API-Key and X-API-Secret', prefix: 'rsk_' },
  pms: { headers: 'X-PMS-API-Key and X-PMS-API-Secret', prefix: 'rpk_' },
} as const;

/** Which of the two APIs a credential opens. */
export type Audience = keyof typeof AUDIENCES;
