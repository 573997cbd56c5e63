/** The person or program that made a change, with its name. */
import Type from 'typebox';
import { oneOf, textOrNull, uuidOrNull } from '#platform/lib/fields.ts';
import type { Database } from '#platform/db/database.ts';
import type { Staff } from '../tenants/tenants.ts';
import * as store from './store.ts';

const CHANGE_ACTOR_TYPES = ['person', 'display', 'partner', 'channel', 'operator', 'sandbox'] as const;

export interface ChangeActor {
  type: (typeof CHANGE_ACTOR_TYPES)[number];
  id: string | null;
}

export const NamedActor = Type.Object(
  {
    type: oneOf(
      CHANGE_ACTOR_TYPES,
      '`person`: an owner or a member of the staff. `display`: a screen that is paired with the tenant. `partner`: a partner ' +
        'or a PMS. `channel`: a channel that sends OTA reservations. `operator`: a person who ran a command of the service. ' +
        '`sandbox`: the simulated staff of the demo tenant.',
    ),
    id: uuidOrNull('The id of the person, display, credential or channel. Null for `operator` and `sandbox`.'),
    name: textOrNull(
      'The name of the person, or the e-mail address of a person without a name. For a display or a credential, the label. For a ' +
        'channel, the source. Null if the name is unknown.',
    ),
  },
  { description: 'The person or program that made the change.' },
);
export type NamedActor = Type.Static<typeof NamedActor>;

export function changeActorOf({ type, id }: Pick<Staff, 'type' | 'id'>): ChangeActor {
  return { type, id };
}

export async function readActorNames(
  db: Database,
  tenantId: number,
  actors: ChangeActor[],
): Promise<(actor: ChangeActor) => NamedActor> {
  const ids = new Set(actors.flatMap(({ id }) => id ?? []));
  const rows = ids.size === 0 ? [] : await store.findNames(db, tenantId, [...ids]);
  const names = new Map(rows.map(({ id, name }) => [id, name]));
  return ({ type, id }) => ({ type, id, name: id === null ? null : (names.get(id) ?? null) });
}
