import type { Database } from '#platform/db/database.ts';
import { forEachShare } from '#platform/db/inputs.ts';
import { orderedAreas, type Staff } from '../tenants/tenants.ts';
import * as store from './store.ts';

interface Outcomes {
  onEnded: (caller: Staff) => void;
  /** Called for each display that keeps its access and whose use is due. */
  noteUse: (caller: Staff) => void;
}

/**
 * Finds those of the callers with an open stream whose access has ended or changed since their call. An open stream is a use of the session
 * for a display, and not for a person (docs/decisions/0018-live-changes.md).
 */
export async function findEndedCallers(db: Database, callers: Staff[], { onEnded, noteUse }: Outcomes): Promise<void> {
  const check = async (ofShare: Staff[]) => {
    const rows = await store.readCallers(db, ofShare.map(inputOf));
    for (const [index, caller] of ofShare.entries()) {
      const row = rows[index];
      if (row === undefined || !hasSameRights(caller, row)) {
        onEnded(caller);
      } else if (row.is_use_due && caller.type === 'display') {
        noteUse(caller);
      }
    }
  };
  await forEachShare(db, callers, ({ tenant }) => tenant.id, check);
}

function inputOf({ tenant, id, session }: Staff): store.CallerInput {
  const { id: sessionId, generation, expiresAt } = session;
  return { tenantId: tenant.id, sessionId, personId: id, generation, expiresAt: expiresAt.toISOString() };
}

/** The stored areas of an owner are ignored, because owners have all areas. */
function hasSameRights({ role, areas }: Staff, row: store.CallerRow): boolean {
  return row.role === role && (role === 'owner' || orderedAreas(row.areas).join() === areas.join());
}
