import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it, type TestContext } from 'node:test';
import { sql } from 'kysely';
import { countPasswordHashes } from '#test/support/password-hashes.ts';
import { dumpRows } from '#test/support/restaurant.ts';
import type { Answer } from '#test/support/http.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { openRecorded } from '#test/support/statements.ts';
import { OWNER_PASSWORD } from '#test/support/tenants.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const HOME = '192.0.2.1';
const ELSEWHERE = '198.51.100.7';

let service: TestService;
/**
 * Node of the current test. Each test starts a new node, because each node counts sign-ins separately, and the sign-ins of earlier tests
 * must not count.
 */
let node: TestService;
let email: string;
const hashes = countPasswordHashes();
before(async () => {
  service = await startService();
});
after(() => service.close());
beforeEach(async () => {
  node = await startService({ beside: service, config: { trustedProxies: ['127.0.0.1'] } });
  email = `owner@${(await service.tenant()).document.slug}.example`;
});
afterEach(() => node.close());

/** Stops the clock until the test ends. Without this, the results of the test would change if UTC midnight passed during the test. */
function stayOnOneDay(t: TestContext): void {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() });
}

const attempt = (from: string, password: string, account = email) =>
  node.call('POST', '/v1/auth/token/', {
    json: { email: account, password },
    headers: { 'x-forwarded-for': from },
  });
const enter = (from: string) => attempt(from, OWNER_PASSWORD);
const fail = (from: string) => attempt(from, 'not the right one');

/** Returns the status of the response to a sign-in, and the number of attempts that are left according to its rate limit header. */
function statusAndLeft(answer: Answer): [status: number, left: number] {
  assert.equal(answer.headers.get('x-ratelimit-limit'), '10');
  return [answer.status, Number(answer.headers.get('x-ratelimit-remaining'))];
}

async function times(count: number, call: () => Promise<Answer>, status: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    assert.equal((await call()).status, status, `call ${index + 1}`);
  }
}

async function userId(account = email): Promise<string> {
  const query = service.database.db.selectFrom('app_user').select('id').where('email', '=', account);
  return (await query.executeTakeFirstOrThrow()).id;
}

async function addresses() {
  const query = service.database.db
    .selectFrom('sign_in_address')
    .selectAll()
    .where('user_id', '=', await userId());
  return await query.orderBy('signed_in_at').execute();
}

/** Sets the stored time of the last sign-in from each address of the user. */
async function dateBack(signedInAt: Date): Promise<void> {
  const query = service.database.db.updateTable('sign_in_address').set({ signed_in_at: signedInAt });
  await query.where('user_id', '=', await userId()).execute();
}

describe('an address that has signed in to an account', () => {
  it('200: an IP address with an earlier sign-in can still sign in after other IP addresses used up the attempts for the account; 429: its own eleventh attempt is refused', async () => {
    assert.deepEqual(statusAndLeft(await enter(HOME)), [200, 9]);
    await times(9, () => fail(ELSEWHERE), 401);
    assert.deepEqual(statusAndLeft(await fail(ELSEWHERE)), [429, 0]);
    assert.deepEqual(statusAndLeft(await enter('198.51.100.8')), [429, 0]);
    // The first sign-in made HOME a known address, so HOME has ten attempts of its own. The first sign-in counts as the first of these
    // attempts, and this sign-in counts as the second.
    assert.deepEqual(statusAndLeft(await enter(HOME)), [200, 8]);
    await times(8, () => fail(HOME), 401);
    const earlier = hashes.count;
    assert.deepEqual(statusAndLeft(await enter(HOME)), [429, 0]);
    assert.equal(hashes.count, earlier);
  });

  it('200: if an IP address with an earlier sign-in has used up its attempts for an account, other IP addresses keep their attempts and can sign in', async () => {
    await enter(HOME);
    await times(9, () => fail(HOME), 401);
    assert.equal((await fail(HOME)).status, 429);
    assert.deepEqual(statusAndLeft(await enter(ELSEWHERE)), [200, 8]);
  });

  it("429: if an IP address signs in to account A, then sends account B 10 wrong passwords, B's right password is refused, and no address is stored for B", async () => {
    const other = `owner@${(await service.tenant()).document.slug}.example`;
    assert.equal((await attempt(HOME, OWNER_PASSWORD, other)).status, 200);
    await times(10, () => fail(HOME), 401);
    assert.equal((await enter(HOME)).status, 429);
    assert.deepEqual(await addresses(), []);
  });

  it('200: if an IP address signed in to an account on one node, it can sign in on another node after another IP address used up the attempts there', async () => {
    await service.call('POST', '/v1/auth/token/', { json: { email, password: OWNER_PASSWORD } });
    await times(10, () => fail(ELSEWHERE), 401);
    assert.deepEqual(statusAndLeft(await enter('127.0.0.1')), [200, 9]);
  });

  it('200: after a sign-in, the whole /64 network of its IPv6 address, or all notations of its IPv4 address, have attempts that other IP addresses cannot use up', async () => {
    await enter('2001:db8:1:2::1');
    await enter('::ffff:192.0.2.9');
    await times(8, () => fail(ELSEWHERE), 401);
    assert.equal((await enter(ELSEWHERE)).status, 429);
    assert.deepEqual(statusAndLeft(await enter('2001:DB8:1:2:ffff:ffff:ffff:ffff')), [200, 8]);
    assert.deepEqual(statusAndLeft(await enter('192.0.2.9')), [200, 8]);
    assert.deepEqual(statusAndLeft(await enter('::ffff:c000:209')), [200, 7]);
    assert.equal((await enter('2001:db8:1:3::1')).status, 429);
    assert.equal((await addresses()).length, 2);
  });

  it('200: an IP address stays known if a proxy writes another port after it', async () => {
    await enter(`${HOME}:51234`);
    await times(9, () => fail(`${ELSEWHERE}:443`), 401);
    assert.equal((await enter(ELSEWHERE)).status, 429);
    assert.deepEqual(statusAndLeft(await enter(`${HOME}:51235`)), [200, 8]);
    assert.equal((await addresses()).length, 1);
  });

  it('200: an address counts as known for 30 UTC days after its latest sign-in; 429: after that, the address counts as unknown', async (t) => {
    stayOnOneDay(t);
    await enter(HOME);
    await times(9, () => fail(ELSEWHERE), 401);
    const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
    await dateBack(new Date(today - 30 * DAY_MS - 1));
    assert.equal((await enter(HOME)).status, 429);
    await dateBack(new Date(today - 30 * DAY_MS));
    assert.deepEqual(statusAndLeft(await enter(HOME)), [200, 8]);
    assert.ok(
      Date.now() - Number((await addresses())[0]?.signed_in_at) < DAY_MS,
      'the sign-in renews the time of the address',
    );
  });
});

describe('the stored addresses of sign-ins', () => {
  it('if a user signs in several times from one IP address on one day, only the first sign-in writes the row of this address to the database', async (t) => {
    stayOnOneDay(t);
    await enter(HOME);
    const rows = await dumpRows(service, 'sign_in_address');
    await times(3, () => enter(HOME), 200);
    await fail(HOME);
    assert.deepEqual(await dumpRows(service, 'sign_in_address'), rows);
    await dateBack(new Date(Date.now() - DAY_MS));
    await enter(HOME);
    assert.ok(Date.now() - Number((await addresses())[0]?.signed_in_at) < DAY_MS / 2);
  });

  it('after a sign-in, the service keeps only the 20 addresses from which the user signed in most recently', async () => {
    await enter(HOME);
    const [home] = await addresses();
    assert.ok(home);
    const row = (index: number, days: number) => ({
      ...home,
      address_hash: Buffer.alloc(32, index),
      signed_in_at: new Date(Date.now() - days * DAY_MS),
    });
    const made = [row(1, 40), row(2, 31), ...Array.from({ length: 25 }, (_, index) => row(3 + index, 25 - index))];
    await service.database.db.insertInto('sign_in_address').values(made).execute();
    await enter(ELSEWHERE);
    const kept = (await addresses()).map(({ address_hash }) => address_hash[0]);
    assert.equal(kept.length, 20);
    assert.deepEqual(
      kept.slice(0, 18),
      Array.from({ length: 18 }, (_, index) => 10 + index),
    );
    assert.deepEqual(statusAndLeft(await enter(HOME)), [200, 8]);
  });

  it('a client IP address is stored only as a hash, and two users with the same address have different hashes', async () => {
    const other = `owner@${(await service.tenant()).document.slug}.example`;
    await enter(HOME);
    await attempt(HOME, OWNER_PASSWORD, other);
    const hashesOf = async (account: string) => {
      const query = service.database.db.selectFrom('sign_in_address').select('address_hash');
      const rows = await query.where('user_id', '=', await userId(account)).execute();
      return rows.map(({ address_hash }) => address_hash.toString('hex'));
    };
    const [mine, theirs] = [await hashesOf(email), await hashesOf(other)];
    assert.deepEqual([mine.length, theirs.length], [1, 1]);
    assert.notDeepEqual(mine, theirs);
    const text = (await dumpRows(service, 'sign_in_address')).join();
    assert.ok(!text.includes(HOME) && !text.includes(Buffer.from(HOME).toString('hex')));
  });

  it('200: a sign-in succeeds even if its client address cannot be stored, and the failure is logged', async () => {
    const logged: string[] = [];
    const logging = await startService({ beside: service, onLog: (line) => logged.push(line) });
    const signIn = () => logging.call('POST', '/v1/auth/token/', { json: { email, password: OWNER_PASSWORD } });
    const { db } = service.database;
    await sql`ALTER TABLE sign_in_address ADD CONSTRAINT full_up CHECK (false) NOT VALID`.execute(db);
    try {
      assert.equal((await signIn()).status, 200);
      assert.ok(logged.some((line) => line.includes('audit entry of a sign-in could not be written')));
    } finally {
      await sql`ALTER TABLE sign_in_address DROP CONSTRAINT full_up`.execute(db);
      await logging.close();
    }
  });
});

describe('an unknown e-mail', () => {
  it('401, 429: sign-ins with an unknown and with a known e-mail get the same responses and run the same SQL statements', async () => {
    const recorded = openRecorded(service.database.url, 2);
    const recordedNode = await startService({
      beside: { ...service, database: { ...service.database, db: recorded.db } },
    });
    const tries = async (account: string) => {
      const answers: Answer[] = [];
      const statements = await recorded.statementsOf(async () => {
        for (let index = 0; index < 12; index += 1) {
          const json = { email: account, password: 'not the right one' };
          answers.push(await recordedNode.call('POST', '/v1/auth/token/', { json }));
        }
      });
      return {
        statements: statements.filter((text) => !/recent_change|audit_entry/.test(text)),
        answers: answers.map(({ status, text, headers }) => [
          status,
          text.replace(/\d+ s\./, ''),
          [...headers].filter(([name]) => !['x-request-id', 'date', 'x-ratelimit-reset', 'retry-after'].includes(name)),
        ]),
      };
    };
    try {
      const [known, unknown] = [await tries(email), await tries('nobody@nowhere.example')];
      assert.deepEqual(unknown, known);
      assert.equal(known.statements.length, 24);
      assert.deepEqual(
        known.answers.map(([status]) => status),
        [...Array.from({ length: 10 }, () => 401), 429, 429],
      );
    } finally {
      await recordedNode.close();
      await recorded.db.destroy();
    }
  });
});
