import { readFile } from 'node:fs/promises';

/** Reads the version of the service from its package. */
export async function readVersion(): Promise<string> {
  const text = await readFile(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
