import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { request } from 'node:https';
import { type EventRow, readEvents } from '../observer.ts';
import type { Post } from '../receivers.ts';
import type { Partner } from '../tenants.ts';
import { healthyUrls, type World } from '../world.ts';
import { byStatement, first, type Tampering } from './tampering.ts';

/** A delivered event, with the POSTs that its receiver got. */
interface Delivered {
  event: EventRow;
  posts: Post[];
  partner: Partner;
}

async function delivered(world: World): Promise<Delivered[]> {
  const healthy = healthyUrls(world);
  const events = (await readEvents(world.postgres)).filter((event) => event.delivery_status === 'delivered');
  return events.flatMap((event) => {
    const partner = world.knownPartners.get(event.credential_id ?? '');
    const posts = world.posts.byEvent.get(event.id) ?? [];
    return partner !== undefined && healthy.has(partner.webhookUrl) ? [{ event, posts, partner }] : [];
  });
}

async function anyDelivered(world: World): Promise<unknown[]> {
  const { event } = first(await delivered(world), 'delivered event');
  return [event.tenant_id, event.id];
}

const EVENT = 'tenant_id = $1 AND id = $2';

const onePostMore: Tampering = {
  name: 'an event is posted one time more than its counted attempts',
  breaks: '5 webhooks at the receivers',
  async spoil(world) {
    const { event, posts, partner } = first(await delivered(world), 'delivered event');
    const timestamp = String(Math.floor(Date.now() / 1000));
    const body = event.body ?? '';
    const signature = createHmac('sha256', partner.webhookSecret).update(`${timestamp}.${body}`).digest('hex');
    const headers = {
      'x-service-event-id': event.id,
      'x-service-timestamp': timestamp,
      'x-service-signature': `sha256=${signature}`,
      'content-length': Buffer.byteLength(body),
    };
    const sent = request(partner.webhookUrl, { method: 'POST', headers, rejectUnauthorized: false, agent: false });
    sent.end(body);
    await once(sent, 'response');
    sent.destroy();
    return () => posts.pop();
  },
};

const wrongSignature: Tampering = {
  name: 'a POST has the signature of another timestamp',
  breaks: '5 webhooks at the receivers',
  async spoil(world) {
    const { posts } = first(await delivered(world), 'delivered event');
    const post = first(posts, 'post');
    const { timestamp } = post;
    post.timestamp = String(Number(timestamp) - 1);
    return () => (post.timestamp = timestamp);
  },
};

const eventGone: Tampering = {
  name: 'an event is deleted',
  breaks: '4 state and events agree',
  async spoil(world) {
    const values = await anyDelivered(world);
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
};

const eventAfterCommit: Tampering = {
  name: 'an event is written after the commit of its cause',
  breaks: '4 state and events agree',
  async spoil(world) {
    const { event } = first(await delivered(world), 'delivered event');
    // Changes the transaction id in the suite's record of the event. The event and its cause then seem to come from two transactions. The
    // suite must report this, because a crash between two such transactions would lose the event.
    const set = async (tx: string) => {
      const values = [event.tenant_id, event.id, tx];
      await world.postgres.query(`UPDATE faults.event SET tx = $3::xid8 WHERE ${EVENT}`, values);
    };
    await set('3');
    return async () => await set(event.tx);
  },
};

const waitTooLong: Tampering = {
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
};

const lateFirstAttempts: Tampering = {
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
};

export const webhookTamperings: Tampering[] = [
  byStatement(
    'the stored body of an event differs from the sent one',
    '5 webhooks at the receivers',
    anyDelivered,
    `UPDATE event SET body = replace(body, '"event":', '"event" :') WHERE ${EVENT}`,
    `UPDATE event SET body = replace(body, '"event" :', '"event":') WHERE ${EVENT}`,
  ),
  onePostMore,
  wrongSignature,
  byStatement(
    'an attempt is not counted',
    '5 webhooks at the receivers',
    anyDelivered,
    `UPDATE delivery SET attempt_count = attempt_count - 1 WHERE ${EVENT}`,
    `UPDATE delivery SET attempt_count = attempt_count + 1 WHERE ${EVENT}`,
  ),
  byStatement(
    'a delivery stays pending for ever',
    '5 webhooks in the database',
    anyDelivered,
    `UPDATE delivery SET status = 'pending', next_attempt_at = 'infinity' WHERE ${EVENT}`,
    `UPDATE delivery SET status = 'delivered' WHERE ${EVENT}`,
  ),
  byStatement(
    'a delivery is failed before its fifth attempt',
    '5 webhooks in the database',
    anyDelivered,
    `UPDATE delivery SET status = 'failed' WHERE ${EVENT}`,
    `UPDATE delivery SET status = 'delivered' WHERE ${EVENT}`,
  ),
  eventGone,
  eventAfterCommit,
  waitTooLong,
  lateFirstAttempts,
];
