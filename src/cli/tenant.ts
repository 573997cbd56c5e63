import { readFile } from 'node:fs/promises';
import type { Config } from '../config.ts';
import { OperatorError } from '../errors.ts';
import { applyTenantDocument } from '../tenant-document/tenant-document.ts';
import { listTenants } from '../tenants/tenants.ts';
import { openRuntime } from './runtime.ts';
import { print, printJson, showProgress } from './terminal.ts';

/** `roomservice tenant apply FILE`. The file is read before the database is opened: a bad one costs nothing. */
export async function applyTenant(config: Config, file: string, options: { json?: boolean }): Promise<void> {
  const document = await readDocument(file);
  const runtime = await openRuntime(config, { role: 'command', progress: showProgress });
  try {
    const applied = await applyTenantDocument(runtime.db, document);
    if (options.json) {
      printJson(applied);
    } else {
      print(`Tenant ${applied.slug} (${applied.tenant_id}) is as ${file} says.`);
    }
  } finally {
    await runtime.close();
  }
}

/** `roomservice tenant list`. */
export async function printTenants(config: Config, options: { json?: boolean }): Promise<void> {
  const runtime = await openRuntime(config, { role: 'command', progress: showProgress });
  try {
    const tenants = await listTenants(runtime.db);
    if (options.json) {
      printJson(tenants);
    } else if (tenants.length === 0) {
      print('There is no tenant yet. "roomservice tenant apply FILE" makes one.');
    } else {
      for (const { id, slug, name, features } of tenants) {
        print(`${id}\t${slug}\t${name}\t${features.join(', ')}`);
      }
    }
  } finally {
    await runtime.close();
  }
}

async function readDocument(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError(`${file} cannot be read (${error.code}).`);
  });
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new OperatorError(`${file} is not JSON: ${(error as Error).message}`);
  }
}
