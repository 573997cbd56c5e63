/**
 * Writes the generated files:
 * - the list of tables and columns, from the migrations
 * - the OpenAPI documents, from the schemas of the routes
 * - the types of the SDK and of the console, and the Postman collection, from the OpenAPI documents
 * - the tables of docs/operating/settings.md and commands.md, from the settings and from the help of the commands
 * With `--check` the command writes no file, and fails if a file is out of date.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ColumnMetadata, sql } from 'kysely';
import { createDatabase, type Database } from '#platform/db/database.ts';
import { openEmbeddedPostgres } from '#platform/db/embedded/embedded.ts';
import { migrateToLatest } from '#platform/db/migrate.ts';
import { buildOpenApiDocuments } from './openapi/openapi.ts';
import { withCommands, withSettings } from './operating/pages.ts';
import { postmanFiles } from './postman/postman.ts';
import { clientTypes, type Document } from './sdk/sdk-types.ts';

const REPOSITORY = join(import.meta.dirname, '..');

async function main(): Promise<void> {
  const [tables, contracts, pages] = await Promise.all([databaseTables(), contractFiles(), operatingPages()]);
  const files = { 'src/platform/db/tables.ts': tables, ...pages, ...contracts };
  if (process.argv.includes('--check')) {
    await failOnDrift(files);
  } else {
    await Promise.all(Object.entries(files).map(([path, content]) => writeFile(join(REPOSITORY, path), content)));
  }
}

async function databaseTables(): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'roomservice-generate-'));
  // With fsync off, a crash could damage the database. This does no harm, because this function removes the database at its end.
  const postgres = await openEmbeddedPostgres({ dataDir, role: 'command', settings: { fsync: 'off' } });
  try {
    const db = createDatabase({ url: postgres.url, poolSize: 2, hasNoTimeLimit: true, isPrepared: false });
    try {
      await migrateToLatest(db);
      return await tablesOf(db);
    } finally {
      await db.destroy();
    }
  } finally {
    await postgres.close();
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Returns the code of a constant with all tables, from which src/platform/db/database.ts derives the types of the rows. */
async function tablesOf(db: Database): Promise<string> {
  const { rows } = await sql<{ name: string }>`
    SELECT relname AS name FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND relname <> 'kysely_migration' ORDER BY oid
  `.execute(db);
  const tables = await db.introspection.getTables();
  const columnsOf = (table: string) =>
    tables
      .find(({ name }) => name === table)
      ?.columns.map(columnOf)
      .join(', ');
  const lines = rows.map(({ name }) => `  ${name}: { ${columnsOf(name)} },\n`);
  return `/** Tables and their columns in the order of the migrations, written by "npm run generate". A type ends with ? if it may be null, else with = if it has a default. */
export const TABLES = {\n${lines.join('')}} as const;\n`;
}

function columnOf({ name, dataType, isNullable, hasDefaultValue, isAutoIncrementing }: ColumnMetadata): string {
  const mark = isNullable ? '?' : hasDefaultValue || isAutoIncrementing ? '=' : '';
  return `${name}: '${dataType.replace(/^_(.*)/, '$1[]')}${mark}'`;
}

async function contractFiles(): Promise<Record<string, string>> {
  const built = await buildOpenApiDocuments();
  const documents = Object.entries(built);
  return Object.fromEntries([
    ...documents.map(([name, document]) => [`contract/${name}.json`, `${JSON.stringify(document, null, 2)}\n`]),
    ...Object.entries(clientFiles(built)),
    ...Object.entries(postmanFiles(built)),
  ]);
}

/** Returns the types of the clients by path: those of the SDK, and those of the console, which may call what a session cookie may. */
function clientFiles(built: Record<string, object>): Record<string, string> {
  const { 'third-party': thirdParty, pms, staff } = built as Record<string, Document>;
  if (thirdParty === undefined || pms === undefined || staff === undefined) throw new Error('A document is missing.');
  return {
    'sdk/src/generated/third-party.ts': clientTypes(thirdParty, 'apiKey'),
    'sdk/src/generated/pms.ts': clientTypes(pms, 'pmsApiKey'),
    'console/src/api/types.ts': clientTypes(joined([staff, thirdParty, pms]), 'sessionCookie'),
  };
}

function joined(documents: Document[]): Document {
  const paths = Object.assign({}, ...documents.map((each) => each.paths)) as Document['paths'];
  const schemas = Object.assign({}, ...documents.map((each) => each.components?.schemas)) as object;
  return { paths, components: { schemas } as NonNullable<Document['components']> };
}

async function operatingPages(): Promise<Record<string, string>> {
  const [settings, commands] = ['docs/operating/settings.md', 'docs/operating/commands.md'];
  const read = (path: string) => readFile(join(REPOSITORY, path), 'utf8');
  return { [settings]: withSettings(await read(settings)), [commands]: withCommands(await read(commands)) };
}

async function failOnDrift(files: Record<string, string>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const present = await readFile(join(REPOSITORY, path), 'utf8').catch(() => null);
    if (present === content) continue;
    console.error(
      `${path} ${present === null ? 'is missing' : 'is out of date'}. Run "npm run generate" and commit the file.`,
    );
    process.exitCode = 1;
  }
}

await main();
