import { randomInt } from 'node:crypto';
import type { Database } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { orNotFound, UnavailableError } from '#platform/errors.ts';
import { isUuid, newId } from '#platform/lib/ids.ts';
import { keyedHash } from '#platform/lib/keyed-hash.ts';
import { prepareAudit, writeAuditEntries } from '../audit/audit.ts';
import { actorOf, type Area, orderedAreas, type Staff, notSignedIn } from '../tenants/tenants.ts';
import type { CreatedDisplay, Display, DisplayCreate } from './display-schema.ts';
import * as store from './display-store.ts';

/**
 * Letters of pairing codes. The vowels are left out, so that a code is not a word. L is left out, because it looks like the digit 1. Eight
 * of these letters make 25 thousand million codes. In the 10 minutes for which a code works, one client address can try only 100 codes, so
 * it cannot guess a code.
 */
const LETTERS = 'BCDFGHJKMNPQRSTVWXYZ';
const CODE_LENGTH = 8;

export class Displays {
  readonly #db: Database;
  readonly #hashOf: (code: string) => Buffer;

  constructor({ db, pepper }: { db: Database; pepper: Buffer }) {
    this.#db = db;
    this.#hashOf = keyedHash(pepper, 'pairing-code');
  }

  async list(tenantId: number): Promise<Display[]> {
    return (await store.listDisplays(this.#db, tenantId)).map(displayShape);
  }

  async create(owner: Staff, wanted: DisplayCreate): Promise<CreatedDisplay> {
    const tenantId = owner.tenant.id;
    const display = { id: newId(), label: wanted.label, areas: orderedAreas(wanted.areas) };
    const writeDown = prepareAudit(actorOf(owner));
    const pairing_code = Array.from({ length: CODE_LENGTH }, () => LETTERS.charAt(randomInt(LETTERS.length))).join('');
    const code = { hash: this.#hashOf(pairing_code), displayId: display.id };
    const expiresAt = await inTransaction(this.#db, async (tx) => {
      await store.insertDisplay(tx, tenantId, display);
      const { label, areas } = display;
      await writeDown(tx, { action: 'display.created', subject: display.id, details: { label, areas } });
      const end = await store.insertCode(tx, tenantId, code);
      if (end === undefined) {
        throw new UnavailableError('The new pairing code is already used by another display. Try again.');
      }
      return end;
    });
    return { ...display, pairing_code, expires_at: expiresAt.toISOString() };
  }

  /** Removing it again changes nothing. */
  async remove(owner: Staff, id: string): Promise<Display> {
    const tenantId = owner.tenant.id;
    const writeDown = prepareAudit(actorOf(owner));
    return await inTransaction(this.#db, async (tx) => {
      const display = orNotFound(isUuid(id) ? await store.lockDisplay(tx, tenantId, id) : undefined, 'display');
      if (display.removed_at === null) {
        await store.removeDisplay(tx, tenantId, display.id);
        await writeDown(tx, { action: 'display.removed', subject: display.id, details: { label: display.label } });
      }
      return displayShape(display);
    });
  }

  async pair(code: string, address: string): Promise<{ tenantId: number; displayId: string }> {
    const hash = this.#hashOf(code.replace(/[\s-]/g, '').toUpperCase());
    return await inTransaction(this.#db, async (tx) => {
      const taken = await store.takeCode(tx, hash);
      const display = taken && (await store.lockDisplay(tx, taken.tenant_id, taken.display_id));
      if (display === undefined || display.removed_at !== null) {
        throw notSignedIn('The pairing code is unknown, was used or has expired. Ask for a new code.');
      }
      const { tenant_id: tenantId, id: displayId, label } = display;
      const entry = { action: 'display.paired' as const, subject: displayId, details: { label, address } };
      await writeAuditEntries(tx, { tenantId, type: 'display', id: displayId }, [entry]);
      return { tenantId, displayId };
    });
  }
}

function displayShape(row: store.DisplayRow): Display {
  return {
    id: row.id,
    label: row.label,
    areas: row.areas as Area[],
    created_at: row.created_at.toISOString(),
    last_used_at: row.last_used_at?.toISOString() ?? null,
  };
}
