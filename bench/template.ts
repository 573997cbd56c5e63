import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Sizes } from './options.ts';

const ROOT = join(import.meta.dirname, '..');
const MADE_OF = ['bench/seed.ts', 'bench/stored.ts', 'bench/stock.ts', 'demo/tenant.json'];

/** A template is named by all that it is made of, so that one that is kept is never taken for another. */
export function templateName(kind: string, sizes: Sizes): string {
  const hash = createHash('sha256').update(JSON.stringify(sizes));
  const migrations = readdirSync(join(ROOT, 'migrations')).map((file) => `migrations/${file}`);
  for (const path of [...MADE_OF, ...migrations.sort()]) {
    hash.update(readFileSync(join(ROOT, path)));
  }
  return `${kind}_${hash.digest('hex').slice(0, 12)}`;
}
