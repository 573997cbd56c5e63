const ENVIRONMENT_ID = '1d6a8f52-3c7e-4b0a-8f4b-2f9f6f0b7c21';

/**
 * Variables with their default values, which the user can replace. A request that creates a credential stores its key in `apiKey` or
 * `pmsApiKey`.
 */
const VALUES = {
  baseUrl: 'http://127.0.0.1:8080',
  ownerEmail: '',
  apiKey: '',
  pmsApiKey: '',
  webhookUrl: '',
};

/** Variables with secrets. Postman masks their values with dots. */
const SECRETS = ['ownerPassword', 'apiSecret', 'pmsApiSecret'];

export function environment(): object {
  return {
    id: ENVIRONMENT_ID,
    name: 'Roomservice',
    values: [
      ...Object.entries(VALUES).map(([key, value]) => ({ key, value, type: 'default', enabled: true })),
      ...SECRETS.map((key) => ({ key, value: '', type: 'secret', enabled: true })),
    ],
    _postman_variable_scope: 'environment',
  };
}
