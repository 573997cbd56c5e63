/** The menu: a document for staff, and its rendered form for partners. */
import { type Actor, prepareAudit } from '#access/audit/audit.ts';
import { announceChange } from '#platform/changes/changes.ts';
import type { Database, Tx } from '#platform/db/database.ts';
import { withRetries } from '#platform/db/failures.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { ApiError, UnavailableError } from '#platform/errors.ts';
import type { EncodedBody } from '#platform/http/body.ts';
import { matchesIfMatch } from '#platform/http/etag.ts';
import { type AppliedMenu, planMenu, writesOf } from './menu-plan.ts';
import { bufferOf, planInThread } from './menu-thread.ts';
import type { MenuDocument } from './schema.ts';
import * as store from './store.ts';
import { type MenuOwner, parseMenu, unstamped } from './stored-menu.ts';

export { createMenuReader, type ListedMenu, type ReadListedMenu } from './listed-menu.ts';
export { menuFaults } from './menu-document.ts';
export { menuChanges } from './menu-plan.ts';
export { type Dish, MenuDocument } from './schema.ts';

/** Reads the stored menu as a document that `PUT /v1/staff/menu/` accepts. */
export async function readMenuDocument(db: Database, tenantId: number) {
  const { sections, dishes, version } = await store.readMenu(db, tenantId, 'document');
  const head = JSON.stringify(unstamped(JSON.parse(sections))).slice(0, -1);
  return {
    json: Buffer.concat([Buffer.from(`${head},"dishes":`), Buffer.from(dishes), Buffer.from('}')]),
    etag: tagOf(tenantId, version, await store.readEra(db)),
  };
}

export async function readMenuTag(db: Database, tenantId: number): Promise<string> {
  const [version, era] = await Promise.all([store.readMenuVersion(db, tenantId), store.readEra(db)]);
  return tagOf(tenantId, version, era);
}

/**
 * Strong entity tag (RFC 9110 §8.8.3). After a restore from a backup, two different menus may have the same version, so the tag contains
 * the era. It contains the tenant, because the menus of all tenants have the same URL.
 */
function tagOf(tenantId: number, version: number, era: number): string {
  return `"${tenantId}-${era}-${version}"`;
}

export const MENU_CHANGED = {
  status: 412,
  code: 'error',
  message:
    'The menu has changed since the version that If-Match names, so nothing was changed. Read the menu again, repeat your changes in it, ' +
    'and send it with its new ETag.',
} as const;

/** Other calls may change the menu while `replaceMenu` plans. */
const MAX_PLANS = 10;

/**
 * Replaces the menu with a document. The changes are planned without a lock, so that no database connection waits for the thread. They are
 * written only if the menu still has the version for which they were planned.
 * @throws ApiError 400 `invalid_request`, 412 (code `error`) if `ifMatch` does not match, UnavailableError
 */
export async function replaceMenu(
  db: Database,
  actor: Actor,
  body: EncodedBody,
  { currency, ifMatch }: { currency: string; ifMatch?: string | undefined },
): Promise<Buffer> {
  const recordAudit = prepareAudit(actor);
  const { tenantId } = actor;
  let hasWritten = false;
  for (let plans = 0; plans < MAX_PLANS; plans += 1) {
    const { version, isExpected, planned } = await planChange(db, { tenantId, currency }, body, ifMatch);
    const { writes, counts, document } = planned;
    // If the response to the COMMIT was lost, the stored menu is the one that this call has written, so it no longer matches `ifMatch`. The
    // call must not be refused for this reason.
    if (!isExpected && !(hasWritten && writes === null)) {
      throw menuChanged();
    }
    if (writes === null) {
      return bufferOf(document);
    }
    const isDone = await inTransaction(db, async (tx) => {
      const stored = await store.lockMenu(tx, tenantId);
      if (stored.version !== version) {
        return false;
      }
      await store.writeMenu(tx, tenantId, version + 1, writes);
      await recordAudit(tx, { action: 'menu.replaced', subject: String(tenantId), details: counts });
      await announceChange(tx, tenantId);
      hasWritten = true;
      return true;
    });
    if (isDone) {
      return bufferOf(document);
    }
  }
  throw new UnavailableError('Other calls change the menu all the time.');
}

/** Makes all checks of `replaceMenu`, and returns its changes as JSON of a `MenuComparison`. Writes nothing. */
export async function compareMenu(db: Database, owner: MenuOwner, body: EncodedBody, ifMatch: string | undefined) {
  const { isExpected, planned } = await planChange(db, owner, body, ifMatch);
  if (!isExpected) {
    throw menuChanged();
  }
  return planned.comparison;
}

async function planChange(db: Database, owner: MenuOwner, body: EncodedBody, ifMatch: string | undefined) {
  const { version, ...stored } = await withRetries(() => store.readMenu(db, owner.tenantId, 'stored'));
  const planned = await planInThread({ owner, stored, body });
  const isExpected =
    ifMatch === undefined || matchesIfMatch(ifMatch, tagOf(owner.tenantId, version, await store.readEra(db)));
  return { version, planned, isExpected };
}

function menuChanged(): ApiError {
  return new ApiError(MENU_CHANGED.status, MENU_CHANGED.code, MENU_CHANGED.message);
}

/**
 * Replaces the menu in the transaction of the caller, who must have validated the document.
 * @throws ApiError 400 `invalid_request` if the menu would be too large for partners
 */
export async function applyMenu(tx: Tx, owner: MenuOwner, document: MenuDocument): Promise<AppliedMenu | null> {
  const { tenantId } = owner;
  const { version } = await store.lockMenu(tx, tenantId);
  const stored = parseMenu(await store.readMenu(tx, tenantId, 'stored'));
  const { wanted, changes } = planMenu(owner, stored, document);
  if (changes !== null) {
    await store.writeMenu(tx, tenantId, version + 1, writesOf(wanted, changes));
  }
  return changes;
}
