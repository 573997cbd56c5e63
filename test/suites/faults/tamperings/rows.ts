import type { Creation } from '../history.ts';
import type { World } from '../world.ts';
import { first, type Tampering } from './tampering.ts';

const ORDER = 'tenant_id = $1 AND id = $2';
const SET_STATUS = `UPDATE restaurant_order SET status = $3 WHERE ${ORDER}`;
const ANY_NIGHT =
  '(tenant_id, room_type_id, date) = (SELECT tenant_id, room_type_id, date FROM night ORDER BY 1, 2, 3 LIMIT 1)';

/** Sets the status of an order without the triggers of the database, so that the suite does not record the change. */
async function setUnobserved(postgres: World['postgres'], order: Creation, status: string): Promise<void> {
  const session = await postgres.openSession();
  await session.query('SET session_replication_role = replica');
  await session.query(SET_STATUS, [...keysOf(order), status]);
  await session.end();
}

function ofKind(creations: readonly Creation[], kind: Creation['kind']): Creation[] {
  return creations.filter((creation) => creation.kind === kind && creation.successes.length > 0);
}

function keysOf({ partner, successes }: Creation): [number, string | undefined] {
  return [partner.tenant.id, successes[0]?.id];
}

export const rowTamperings: Tampering[] = [
  {
    name: 'an order is deleted',
    breaks: '1 no accepted data is lost',
    async spoil({ history, postgres }) {
      const order = first(ofKind(history.creations, 'order'), 'order');
      const values = keysOf(order);
      await postgres.query(`CREATE TABLE faults.kept AS SELECT * FROM restaurant_order WHERE ${ORDER}`, values);
      await postgres.query(`DELETE FROM restaurant_order WHERE ${ORDER}`, values);
      return async () => {
        await postgres.query('INSERT INTO restaurant_order SELECT * FROM faults.kept');
        await postgres.query('DROP TABLE faults.kept');
      };
    },
  },
  {
    name: 'a confirmed change of a status is reverted',
    breaks: '1 no accepted data is lost',
    async spoil({ history, postgres }) {
      const moved = ofKind(history.creations, 'order').filter(({ statuses }) => statuses.length > 0);
      const order = first(moved, 'moved order');
      await setUnobserved(postgres, order, 'pending');
      return async () => await setUnobserved(postgres, order, order.statuses.at(-1) ?? '');
    },
  },
  {
    name: 'the unique key is gone, and an order is stored twice',
    breaks: '2 each create takes effect once',
    async spoil({ history, postgres }) {
      const [{ conname: key } = { conname: '' }] = await postgres.query<{ conname: string }>(
        `SELECT conname FROM pg_constraint WHERE conrelid = 'restaurant_order'::regclass AND contype = 'u'`,
      );
      const order = first(ofKind(history.creations, 'order'), 'order');
      await postgres.query(`ALTER TABLE restaurant_order DROP CONSTRAINT ${key}`);
      await postgres.query(
        `INSERT INTO restaurant_order (tenant_id, id, credential_id, external_order_id, status, status_changed_at, order_type, notes, lines,
           total, currency, created_at)
         SELECT tenant_id, gen_random_uuid(), credential_id, external_order_id, status, status_changed_at, order_type, 'a copy', lines,
           total, currency, created_at
         FROM restaurant_order WHERE ${ORDER}`,
        keysOf(order),
      );
      return async () => {
        await postgres.query(`DELETE FROM restaurant_order WHERE notes = 'a copy'`);
        await postgres.query(
          `ALTER TABLE restaurant_order ADD CONSTRAINT ${key} UNIQUE (tenant_id, credential_id, external_order_id)`,
        );
      };
    },
  },
  {
    name: 'a repeated create gets a 201 with another id',
    breaks: '2 each create takes effect once',
    async spoil({ history }) {
      const { successes } = first(ofKind(history.creations, 'reservation'), 'reservation');
      successes.push({ status: 201, id: 'another' });
      return () => successes.pop();
    },
  },
  {
    name: 'a counter of nights is one too high',
    breaks: '3 no oversell',
    async spoil({ postgres }) {
      await postgres.query(`UPDATE night SET held = held + 1 WHERE ${ANY_NIGHT}`);
      return async () => await postgres.query(`UPDATE night SET held = held - 1 WHERE ${ANY_NIGHT}`);
    },
  },
  {
    name: 'more Cabins are sold than exist, and the night counter agrees',
    breaks: '3 no oversell',
    async spoil({ postgres, tenants }) {
      const { id: tenantId, rooms } = first(tenants, 'tenant');
      const values = [tenantId, rooms.Cabin.id, rooms.Cabin.capacity + 1];
      await postgres.query('INSERT INTO night VALUES ($1, $2, current_date + 400, $3)', values);
      await postgres.query(
        `INSERT INTO reservation (tenant_id, id, natural_id, external_source, external_id, status, room_type_id, check_in,
           check_out, guests, guest_name, guest_search_name, total_amount, currency, created_at, changed_at, channel_timestamp,
           channel_signatures)
         SELECT $1, gen_random_uuid(), 'spoilt ' || n, 'spoilt', 'spoilt ' || n, 'confirmed', $2, current_date + 400,
           current_date + 401, 1, 'Nobody', 'nobody', 0, 'EUR', now(), now(), 0, '{}' FROM generate_series(1, $3::int) AS n`,
        values,
      );
      return async () => {
        await postgres.query(`DELETE FROM reservation WHERE tenant_id = $1 AND external_source = 'spoilt'`, [tenantId]);
        await postgres.query('DELETE FROM night WHERE tenant_id = $1 AND date = current_date + 400', [tenantId]);
      };
    },
  },
  {
    name: 'a status changes without an event',
    breaks: '4 state and events agree',
    async spoil({ history, postgres }) {
      const order = first(ofKind(history.creations, 'order'), 'order');
      const status = order.statuses.at(-1) ?? 'pending';
      const other = status === 'cancelled' ? 'pending' : 'cancelled';
      await postgres.query(SET_STATUS, [...keysOf(order), other]);
      await setUnobserved(postgres, order, status);
      return async () =>
        await postgres.query('DELETE FROM faults.change WHERE tx = (SELECT max(tx) FROM faults.change)');
    },
  },
];
