import { parse, type ParseError, printParseErrorCode } from 'jsonc-parser';
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { listTenants } from '#access/tenants/tenants.ts';
import { OperatorError } from '#platform/errors.ts';
import { MAX_DOCUMENT_BYTES } from '#platform/lib/bounds.ts';
import type { Change } from '#platform/lib/change-list.ts';
import { PACKAGE_ROOT } from '#platform/lib/package-root.ts';
import { readTextFile } from '#platform/lib/text-file.ts';
import { type AppliedTenant, applyTenantDocument } from '../tenant-document/tenant-document.ts';
import { type Context, withRuntime } from './runtime.ts';
import { type OutputOptions, printable, type Terminal } from './terminal.ts';

/** New tenant document with a comment for each field, and with the word PASSWORD in place of the owner's password. */
export const TEMPLATE = join(PACKAGE_ROOT, 'examples/demo/new-tenant.jsonc');
const PASSWORD_BYTES = 18;

export async function initTenant({ print }: Terminal, file: string | undefined): Promise<void> {
  const password = randomBytes(PASSWORD_BYTES).toString('base64url');
  const document = (await readFile(TEMPLATE, 'utf8')).replace('"PASSWORD"', JSON.stringify(password));
  if (file === undefined) {
    print(document.trimEnd());
    return;
  }
  await writeFile(file, document, { flag: 'wx', mode: 0o600 }).catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError(
      error.code === 'EEXIST'
        ? `${file} exists already, and was not changed. Give the path of a new file.`
        : `${file} cannot be written (${error.code}). Check the path and its permissions.`,
    );
  });
  print(
    `${file} was written. It contains a new password of the owner. Replace the other values with your own, ` +
      `and run "roomservice tenant apply ${file}".`,
  );
}

interface ApplyFlags extends OutputOptions {
  dryRun?: boolean;
}

/** Runs `roomservice tenant apply FILE`. Reads the file before it opens the database, so that a file with invalid JSON fails early. */
export async function applyTenant(context: Context, file: string, flags: ApplyFlags): Promise<void> {
  const document = await readTenantFile(file);
  const isDryRun = flags.dryRun === true;
  await withRuntime(context, async ({ db }) => {
    const applied = await applyTenantDocument(db, document, isDryRun);
    const { slug, changes } = applied;
    const lines = changes.map((change) => `  ${printable(lineOf(change))}`);
    // A dry run prints no ids, because its transaction is rolled back and no row with a new id is stored.
    const result = isDryRun ? { slug, dry_run: true, changes } : applied;
    context.terminal.printResult(flags, result, [headline(applied, file, isDryRun), ...lines].join('\n'));
  });
}

function headline({ tenant_id, slug, changes }: AppliedTenant, file: string, isDryRun: boolean): string {
  if (changes.length === 0) {
    return `Tenant ${slug} (${tenant_id}) already matches ${file}. Nothing ${isDryRun ? 'would be' : 'was'} changed.`;
  }
  return isDryRun
    ? `Tenant ${slug} does not match ${file} yet. Nothing was changed. Without --dry-run these changes would be made:`
    : `Tenant ${slug} (${tenant_id}) now matches ${file}. These changes were made:`;
}

/** Describes one change in one line. Names and values are written as JSON, so that a line break in them does not begin a new line. */
function lineOf({ what, name, change, fields }: Change): string {
  const values = fields.map(({ field, from, to }) =>
    from === undefined && to === undefined ? field : `${field} ${JSON.stringify(from)} → ${JSON.stringify(to)}`,
  );
  const subject = name === '' ? `${what} list` : `${what} ${JSON.stringify(name)}`;
  return `${subject} ${change}${values.length === 0 ? '' : `: ${values.join(', ')}`}`;
}

export async function printTenants(context: Context, options: OutputOptions): Promise<void> {
  await withRuntime(context, async ({ db }) => {
    const tenants = await listTenants(db);
    const lines = tenants.map(({ id, slug, name, features }) =>
      [id, slug, printable(name), features.join(', ')].join('\t'),
    );
    const text =
      tenants.length === 0 ? 'There is no tenant yet. "roomservice tenant apply FILE" creates one.' : lines.join('\n');
    context.terminal.printResult(options, tenants, text);
  });
}

/** Reads a tenant document from a file of JSON, which may have comments and a comma after the last entry of a list or an object. */
async function readTenantFile(file: string): Promise<unknown> {
  const text = await readTextFile(file, file, MAX_DOCUMENT_BYTES);
  const errors: ParseError[] = [];
  const document: unknown = parse(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (first !== undefined) {
    throw new OperatorError(`${file} is not JSON: ${describeParseError(first, text)}.`);
  }
  return document;
}

/** Describes an error of the parser, for example as "Comma expected at line 3, column 7". Lines and columns begin with 1. */
function describeParseError({ error, offset }: ParseError, text: string): string {
  const lines = text.slice(0, offset).split('\n');
  const [first = '', ...words] = printParseErrorCode(error).split(/(?=[A-Z])/);
  const what = [first, ...words.map((word) => word.toLowerCase())].join(' ');
  return `${what} at line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
}
