/** Reads the version of the service from its package. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '#platform/lib/package-root.ts';

export async function readVersion(): Promise<string> {
  const text = await readFile(join(PACKAGE_ROOT, 'package.json'), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
