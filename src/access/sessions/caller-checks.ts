import type { Database } from '#platform/db/database.ts';
import { sharesOf } from '#platform/db/inputs.ts';
import { orderedAreas, type Staff } from '../tenants/tenants.ts';
import * as store from './store.ts';

/**
 * Returns those of the callers with an open stream whose access has ended or changed since their call.
 * @param noteUse called for each display that keeps its access and whose use is due, because the open stream of a display counts as a use.
 * That of a person does not (docs/decisions/0018-live-changes.md)
 */
export async function findEndedCallers(
  db: Database,
  callers: Staff[],
  { noteUse, onError }: { noteUse: (caller: Staff) => void; onError: (error: unknown) => void },
): Promise<Set<Staff>> {
  const ended = new Set<Staff>();
  const shares = callers.length === 0 ? [] : sharesOf(db, callers, ({ tenant }) => tenant.id);
  for (const { inputs } of shares) {
    try {
      const rows = await store.readCallers(db, inputs.map(inputOf));
      for (const [index, caller] of inputs.entries()) {
        const row = rows[index];
        if (row === undefined || !hasSameRights(caller, row)) {
          ended.add(caller);
        } else if (row.is_use_due && caller.type === 'display') {
          noteUse(caller);
        }
      }
    } catch (error) {
      onError(error);
    }
  }
  return ended;
}

function inputOf({ tenant, id, session }: Staff): store.CallerInput {
  const { id: sessionId, generation, expiresAt } = session;
  return { tenantId: tenant.id, sessionId, personId: id, generation, expiresAt: expiresAt.toISOString() };
}

/** The stored areas of an owner are ignored, because owners have all areas. */
function hasSameRights({ role, areas }: Staff, row: store.CallerRow): boolean {
  return row.role === role && (role === 'owner' || orderedAreas(row.areas).join() === areas.join());
}
