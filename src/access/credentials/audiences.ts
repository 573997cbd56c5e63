/** The headers that carry the API key and the API secret, and the prefix of the API keys, for each of the two APIs. */
export const AUDIENCES = {
  third_party: {
    headers: 'X-API-Key and X-API-Secret',
    keyHeader: 'x-api-key',
    secretHeader: 'x-api-secret',
    security: ['apiKey', 'apiSecret'],
    prefix: 'rsk_',
  },
  pms: {
    headers: 'X-PMS-API-Key and X-PMS-API-Secret',
    keyHeader: 'x-pms-api-key',
    secretHeader: 'x-pms-api-secret',
    security: ['pmsApiKey', 'pmsApiSecret'],
    prefix: 'rpk_',
  },
} as const;

export type Audience = keyof typeof AUDIENCES;
