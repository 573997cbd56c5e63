import { type EventRow, readEvents } from '../observer.ts';
import type { Post } from '../receivers.ts';
import { healthyUrls, type World } from '../world.ts';
import { first, type Tampering } from './tampering.ts';

const EVENT = 'tenant_id = $1 AND id = $2';
const OF_RECEIVERS = '5 webhooks at the receivers';
const OF_DATABASE = '5 webhooks in the database';

/** A delivered event of a healthy receiver, with the POSTs that it got. */
interface Delivered {
  event: EventRow;
  posts: Post[];
}

async function delivered(world: World): Promise<Delivered[]> {
  const healthy = healthyUrls(world);
  const isHealthy = ({ credential_id }: EventRow) =>
    healthy.has(world.knownPartners.get(credential_id ?? '')?.webhookUrl ?? '');
  const events = (await readEvents(world.postgres)).filter((event) => event.delivery_status === 'delivered');
  return events.filter(isHealthy).map((event) => ({ event, posts: world.posts.of(event.id) }));
}

async function anyDelivered(world: World): Promise<Delivered> {
  return first(await delivered(world), 'delivered event');
}

/** Returns a tampering that changes one delivered event by `statement` and repairs it by `undoing`. */
function byStatement(name: string, breaks: string, statement: string, undoing: string): Tampering {
  return {
    name,
    breaks,
    async spoil(world) {
      const { event } = await anyDelivered(world);
      const values = [event.tenant_id, event.id];
      await world.postgres.query(`${statement} WHERE ${EVENT}`, values);
      return async () => await world.postgres.query(`${undoing} WHERE ${EVENT}`, values);
    },
  };
}

export const webhookTamperings: Tampering[] = [
  byStatement(
    'the stored body of an event differs from the sent one',
    OF_RECEIVERS,
    `UPDATE event SET body = replace(body, '"event":', '"event" :')`,
    `UPDATE event SET body = replace(body, '"event" :', '"event":')`,
  ),
  {
    name: 'an event is posted one time more than its counted attempts',
    breaks: OF_RECEIVERS,
    async spoil(world) {
      const { event, posts } = await anyDelivered(world);
      world.posts.add(first(posts, 'post'));
      return () => world.posts.byEvent.set(event.id, posts);
    },
  },
  {
    name: 'a POST has the signature of another timestamp',
    breaks: OF_RECEIVERS,
    async spoil(world) {
      const { posts } = await anyDelivered(world);
      const post = first(posts, 'post');
      const { timestamp } = post;
      post.timestamp = String(Number(timestamp) - 1);
      return () => (post.timestamp = timestamp);
    },
  },
  byStatement(
    'an attempt is not counted',
    OF_RECEIVERS,
    'UPDATE delivery SET attempt_count = attempt_count - 1',
    'UPDATE delivery SET attempt_count = attempt_count + 1',
  ),
  byStatement(
    'a delivery stays pending for ever',
    OF_DATABASE,
    `UPDATE delivery SET status = 'pending', next_attempt_at = 'infinity'`,
    `UPDATE delivery SET status = 'delivered'`,
  ),
  byStatement(
    'a delivery is failed before its fifth attempt',
    OF_DATABASE,
    `UPDATE delivery SET status = 'failed'`,
    `UPDATE delivery SET status = 'delivered'`,
  ),
  {
    name: 'an event is deleted',
    breaks: '4 state and events agree',
    async spoil(world) {
      const { event } = await anyDelivered(world);
      const values = [event.tenant_id, event.id];
      await world.postgres.query(`CREATE TABLE faults.kept AS SELECT * FROM event WHERE ${EVENT}`, values);
      await world.postgres.query(`DELETE FROM event WHERE ${EVENT}`, values);
      return async () => {
        const session = await world.postgres.openSession();
        await session.query('SET session_replication_role = replica');
        await session.query('INSERT INTO event SELECT * FROM faults.kept');
        await session.query('DROP TABLE faults.kept');
        await session.end();
      };
    },
  },
  {
    name: 'an event is written after the commit of its cause',
    breaks: '4 state and events agree',
    async spoil(world) {
      const { event } = await anyDelivered(world);
      // The event and its cause then seem to come from two transactions. A crash between them would lose the event.
      const set = async (tx: string) => {
        const values = [event.tenant_id, event.id, tx];
        await world.postgres.query(`UPDATE faults.event SET tx = $3::xid8 WHERE ${EVENT}`, values);
      };
      await set('3');
      return async () => await set(event.tx);
    },
  },
  {
    name: 'a retry comes a minute late',
    breaks: '5 waits are within their maximum',
    async spoil(world) {
      const tried = (await delivered(world)).filter(({ event }) => (event.attempts?.length ?? 0) > 1);
      const { event } = first(tried, 'event with a retry');
      const values = [event.tenant_id, event.id];
      const shift = async (seconds: number) => {
        const at = `to_jsonb((attempts -> -1 ->> 'at')::timestamptz + make_interval(secs => ${seconds}))`;
        await world.postgres.query(
          `UPDATE delivery SET attempts = jsonb_set(attempts, '{-1,at}', ${at}) WHERE ${EVENT}`,
          values,
        );
      };
      await shift(60);
      return async () => await shift(-60);
    },
  },
  {
    name: 'one first attempt in twenty is five seconds late',
    breaks: '6 isolation of receivers',
    async spoil(world, fromMs) {
      const firsts = (await delivered(world))
        .flatMap(({ posts }) => posts.slice(0, 1))
        .filter(({ atMs }) => atMs > fromMs);
      const late = firsts.filter((_, index) => index % 20 === 0);
      late.forEach((post) => (post.atMs += 5_000));
      return () => late.forEach((post) => (post.atMs -= 5_000));
    },
  },
];
