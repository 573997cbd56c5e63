/** In the order of the API reference. Most operations require all schemes of `security` at the same time. */
export const DOCUMENTS = [
  {
    name: 'third-party',
    title: 'Third-party API',
    summary: 'Orders, reservations, webhooks and events for platforms.',
    security: ['apiKey', 'apiSecret'],
  },
  {
    name: 'pms',
    title: 'PMS API',
    summary: 'Inventory, rates, restrictions and reservations for hotel systems.',
    security: ['pmsApiKey', 'pmsApiSecret'],
  },
  {
    name: 'staff',
    title: 'Owner and staff API',
    summary: 'The sign-in, and what owners and staff of a tenant read and change.',
    security: ['bearer'],
  },
] as const;

export function documentPath(name: string): string {
  return `/openapi/${name}.json`;
}
