import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, '..', '..', '..', 'contract');

/**
 * The OpenAPI documents in the order in which the reference offers them. `name` is the file's, and the address's; `security` names
 * the schemes that most of its operations need together.
 */
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
    summary: 'The sign-in, and what the house itself reads and changes.',
    security: ['bearer'],
  },
] as const;

/** The address of an OpenAPI document. */
export function documentPath(name: string): string {
  return `/openapi/${name}.json`;
}

/** The bytes of a committed OpenAPI document. */
export async function readDocument(name: string): Promise<Buffer> {
  return await readFile(join(FOLDER, `${name}.json`));
}
