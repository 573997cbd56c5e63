import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { newFolder } from './command.ts';

const ROOT = join(import.meta.dirname, '../..');
/** Folders and files that the npm package has, and that the service reads. */
const PARTS = [
  'bin',
  'dist',
  'migrations',
  'contract',
  'examples/demo',
  'docs/guides',
  'docs/operating',
  'src/developer/docs/assets',
  'package.json',
];

/** Name of the migration that only the next version has. */
export const NEXT_MIGRATION = '0002_planted';
const SQL = `-- A table, and a column with an index, as a release may add them.
CREATE TABLE planted (tenant_id bigint NOT NULL, id uuid NOT NULL, PRIMARY KEY (tenant_id, id));
ALTER TABLE restaurant_order ADD COLUMN planted text;
CREATE INDEX restaurant_order_planted ON restaurant_order (tenant_id, planted);
`;

/** Copies this version, with its bundle and one more migration. @returns the path of its `bin/roomservice.js` */
export async function makeNextVersion(): Promise<string> {
  const folder = join(await newFolder(), 'next');
  for (const part of PARTS) {
    await mkdir(dirname(join(folder, part)), { recursive: true });
    await cp(join(ROOT, part), join(folder, part), { recursive: true, preserveTimestamps: true });
  }
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  await writeFile(join(folder, 'migrations', `${NEXT_MIGRATION}.sql`), SQL);
  return join(folder, 'bin/roomservice.js');
}
