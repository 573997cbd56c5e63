import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { cleanUp, type Serving, startServing, startServingProgram, succeed } from '#test/support/command.ts';
import { newMigratedDataDir } from '#test/support/migrated-data-dir.ts';
import { addDays, todayIn } from '#platform/lib/dates.ts';

const FRONT_DESK = 'front-desk@demo.example';
const KITCHEN = 'kitchen@demo.example';
const TIME_ZONE = 'Europe/Lisbon';

/** These tests share one DATA_DIR and run in order. Each test depends on the changes of the previous tests. */
describe('the demo tenant that the first serve --demo makes', () => {
  let env: Record<string, string>;
  let serving: Serving;
  let password: string;
  /**
   * Possible check-in dates of the stay in the demo tenant, in the time zone of the hotel. The stay begins on the day after the start of
   * `serve`. There are two different dates if midnight passes while `serve` starts.
   */
  let arrivals: string[];

  before(async () => {
    env = { DATA_DIR: await newMigratedDataDir() };
    const dayBeforeStart = todayIn(TIME_ZONE);
    serving = await startServing(['--demo'], { env });
    [, password = ''] = await serving.prints(/^ {2}export PASSWORD=(\S+)$/m);
    arrivals = [dayBeforeStart, todayIn(TIME_ZONE)].map((day) => addDays(day, 1));
  });
  after(cleanUp);

  async function get(path: string, email: string) {
    const body = new URLSearchParams({ email, password });
    const signedIn = await fetch(`${serving.url}/v1/auth/token/`, { method: 'POST', body });
    assert.equal(signedIn.status, 200, email);
    const { access_token } = (await signedIn.json()) as { access_token: string };
    const answer = await fetch(`${serving.url}/v1/staff/${path}`, {
      headers: { authorization: `Bearer ${access_token}` },
    });
    return { status: answer.status, body: JSON.parse(await answer.text()) };
  }

  /** Checks that the tenant still has the owner, the two members of staff and one stay. */
  async function checkOnce(): Promise<void> {
    const people = (await get('people/', 'owner@demo.example')).body as { email: string }[];
    assert.deepEqual(people.map(({ email }) => email).sort(), [FRONT_DESK, KITCHEN, 'owner@demo.example']);
    const stays = (await get('reservations/', FRONT_DESK)).body.results as { source: string }[];
    assert.deepEqual(
      stays.map(({ source }) => source),
      ['house'],
    );
  }

  it('serve --demo prints the e-mail of each staff user, who can sign in and use two areas of the staff API', async () => {
    for (const [email, areas] of [
      [FRONT_DESK, ['hotel', 'rates']],
      [KITCHEN, ['orders', 'menu']],
    ] as const) {
      assert.match(serving.output(), new RegExp(`^ {2}Staff +${email}, with the same password$`, 'm'));
      const { person } = (await get('me/', email)).body;
      assert.deepEqual([person.role, person.areas], ['staff', areas]);
    }
  });

  it('403: the kitchen may not read stays, and the front desk may not read orders', async () => {
    assert.equal((await get('reservations/', KITCHEN)).status, 403);
    assert.equal((await get('orders/', FRONT_DESK)).status, 403);
    assert.equal((await get('orders/', KITCHEN)).status, 200);
  });

  it('200: the list of stays has one stay that the front desk has booked, and that arrives on the next day', async () => {
    const { status, body } = await get('reservations/', FRONT_DESK);
    assert.equal(status, 200);
    const [{ source, check_in, check_out, guest, room_type_id }, ...others] = body.results;
    assert.deepEqual([source, guest.name, others], ['house', 'Beatriz Nunes', []]);
    assert.ok(arrivals.includes(check_in), check_in);
    assert.equal(check_out, addDays(check_in, 2));
    const night = (await get(`nights/${room_type_id}/${check_in}/`, FRONT_DESK)).body;
    assert.deepEqual([night.held, night.history[0].by.name], [1, 'Inês Duarte']);
  });

  it('a new start of serve --demo after SIGTERM and after SIGKILL adds no person and no stay', async () => {
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      serving.kill(signal);
      await serving.ended;
      serving = await startServingProgram(['--demo'], { env });
      await serving.prints(/npx roomservice demo/);
      await checkOnce();
    }
  });

  it('the command demo gives the owner and the staff a new password, and adds no person and no stay', async () => {
    const { stdout } = await succeed(['demo', '--json'], { env });
    const { owner, staff } = JSON.parse(stdout);
    assert.notEqual(owner.password, password);
    password = owner.password;
    assert.deepEqual(staff, [
      { email: FRONT_DESK, password },
      { email: KITCHEN, password },
    ]);
    await checkOnce();
  });

  it('the command demo prints no port 0 and no address of all interfaces, because neither is an address of the service', async () => {
    for (const [set, printed] of [
      [{ PORT: '0', HOST: '::' }, 'http://[::1]:PORT'],
      [{ PORT: '80', HOST: '0.0.0.0' }, 'http://127.0.0.1:80'],
      [{ PORT: '0', PUBLIC_URL: 'https://rooms.example.com' }, 'https://rooms.example.com'],
    ] as const) {
      const { stdout } = await succeed(['demo'], { env: { ...env, ...set } });
      assert.ok(stdout.includes(`export BASE=${printed} `), stdout);
    }
  });
});
