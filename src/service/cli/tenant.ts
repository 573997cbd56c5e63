import type { Config } from '#platform/config.ts';
import type { Change } from '#platform/lib/change-list.ts';
import { type AppliedTenant, applyTenantDocument } from '../tenant-document/tenant-document.ts';
import { listTenants } from '#access/tenants/tenants.ts';
import { openRuntime } from './runtime.ts';
import { readTenantFile } from './tenant-file.ts';
import { print, printable, printJson, showProgress } from './terminal.ts';

export interface ApplyFlags {
  json?: boolean;
  dryRun?: boolean;
}

/** Runs `roomservice tenant apply FILE`. Reads the file before it opens the database, so that a file with invalid JSON fails early. */
export async function applyTenant(config: Config, file: string, flags: ApplyFlags): Promise<void> {
  const document = await readTenantFile(file);
  const isDryRun = flags.dryRun === true;
  const runtime = await openRuntime(config, { role: 'command', progress: showProgress });
  try {
    const applied = await applyTenantDocument(runtime.db, document, { isDryRun });
    if (flags.json) {
      // A dry run prints no ids, because its transaction is rolled back and no row with a new id is stored.
      printJson(isDryRun ? { slug: applied.slug, dry_run: true, changes: applied.changes } : applied);
    } else {
      print(
        [headline(applied, file, isDryRun), ...applied.changes.map((change) => `  ${printable(lineOf(change))}`)].join(
          '\n',
        ),
      );
    }
  } finally {
    await runtime.close();
  }
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

/** Runs `roomservice tenant list`. */
export async function printTenants(config: Config, options: { json?: boolean }): Promise<void> {
  const runtime = await openRuntime(config, { role: 'command', progress: showProgress });
  try {
    const tenants = await listTenants(runtime.db);
    if (options.json) {
      printJson(tenants);
    } else if (tenants.length === 0) {
      print('There is no tenant yet. "roomservice tenant apply FILE" creates one.');
    } else {
      for (const { id, slug, name, features } of tenants) {
        print([id, slug, printable(name), features.join(', ')].join('\t'));
      }
    }
  } finally {
    await runtime.close();
  }
}
