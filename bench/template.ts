import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sizes } from './options.ts';

const ROOT = join(import.meta.dirname, '..');
/** Files that determine the content of a template database, in addition to the migrations. */
const SOURCES = [
  'bench/seed.ts',
  'bench/stored.ts',
  'bench/stock.ts',
  'bench/staff-data.ts',
  'examples/demo/tenant.json',
];

/**
 * Returns the name of a template database. The name contains a hash of the data sizes and of the source files that determine the content.
 * If a size or a file changes, the name changes too, so an older template is no longer used.
 */
export function templateName(kind: string, sizes: Sizes): string {
  const hash = createHash('sha256').update(JSON.stringify(sizes));
  const migrations = readdirSync(join(ROOT, 'migrations')).map((file) => `migrations/${file}`);
  for (const path of [...SOURCES, ...migrations.sort()]) {
    hash.update(readFileSync(join(ROOT, path)));
  }
  return `${kind}_${hash.digest('hex').slice(0, 12)}`;
}
