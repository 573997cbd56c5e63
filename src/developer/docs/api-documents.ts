import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '#platform/lib/package-root.ts';

const FOLDER = join(PACKAGE_ROOT, 'contract');

/**
 * The OpenAPI documents in the order in which the API reference lists them. `name` is the file name without its extension, and part of the
 * URL. `security` lists security schemes. Most operations of the document require all schemes of this list at the same time.
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
    summary: 'The sign-in, and what owners and staff of a tenant read and change.',
    security: ['bearer'],
  },
] as const;

/** Returns the path of an OpenAPI document on the site. */
export function documentPath(name: string): string {
  return `/openapi/${name}.json`;
}

/** Reads the bytes of an OpenAPI document from the folder `contract`. */
export async function readDocument(name: string): Promise<Buffer> {
  return await readFile(join(FOLDER, `${name}.json`));
}
