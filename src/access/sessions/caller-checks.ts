import type { Database } from '#platform/db/database.ts';
import { sharesOf } from '#platform/db/inputs.ts';
import { orderedAreas, type Staff } from '../tenants/tenants.ts';
import * as store from './caller-store.ts';

interface Outcomes {
  onEnded: (caller: Staff) => void;
  /** Called for each display that keeps its access, if the stored time of its last use is at least one minute old. */
  noteUse: (caller: Staff) => void;
}

/**
 * Finds those of the callers whose access has ended or changed since their call. This check is for calls with a long response, for example a
 * stream. An open stream is a use of the session for a display, and not for a person (docs/decisions/0018-live-changes.md).
 */
export async function findEndedCallers(db: Database, callers: Staff[], { onEnded, noteUse }: Outcomes): Promise<void> {
  const check = async (ofShare: Staff[]) => {
    for (const [caller, row] of await readRows(db, ofShare)) {
      if (row === undefined || !hasSameRights(caller, row)) {
        onEnded(caller);
      } else if (row.is_use_due && caller.type === 'display') {
        noteUse(caller);
      }
    }
  };
  await Promise.all(sharesOf(db, callers, ({ tenant }) => tenant.id).map(({ inputs }) => check(inputs)));
}

async function readRows(db: Database, callers: Staff[]): Promise<[Staff, store.CallerRow | undefined][]> {
  const ofSessions = callers.filter(({ session }) => session.id !== null);
  const ofTokens = callers.filter(({ session }) => session.id === null);
  const sessions = ofSessions.map(({ tenant, session }) => ({ tenantId: tenant.id, id: session.id ?? '' }));
  const tokens = ofTokens.map(({ tenant, id, session }) => ({
    tenantId: tenant.id,
    personId: id,
    generation: session.generation ?? 0,
    expiresAt: session.expiresAt.toISOString(),
  }));
  const [sessionRows, tokenRows] = [
    sessions.length === 0 ? [] : await store.readSessionCallers(db, sessions),
    tokens.length === 0 ? [] : await store.readTokenCallers(db, tokens),
  ];
  return [
    ...ofSessions.map((caller, index): [Staff, store.CallerRow | undefined] => [caller, sessionRows[index]]),
    ...ofTokens.map((caller, index): [Staff, store.CallerRow | undefined] => [caller, tokenRows[index]]),
  ];
}

/** The stored areas of an owner are ignored, because owners have all areas. */
function hasSameRights({ role, areas }: Staff, row: store.CallerRow): boolean {
  return row.role === role && (role === 'owner' || orderedAreas(row.areas).join() === areas.join());
}
