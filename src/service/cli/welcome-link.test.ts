import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { cleanUp, type Serving, startServing } from '#test/support/command.ts';
import { CONSOLE } from '#test/support/sessions.ts';
import { startService, type TestService } from '#test/support/service.ts';

let service: TestService;
let env: Record<string, string>;

before(async () => {
  service = await startService();
  const users = [{ email: 'owner@demo.example', password: 'a long password of the demo', role: 'owner' as const }];
  await service.tenant({ slug: 'demo', users });
  env = { DATABASE_URL: service.database.url, MASTER_KEY: service.masterKey.toString('base64') };
});
after(async () => {
  await cleanUp();
  await service.close();
});

const welcome = async ({ url }: Serving, token: string) =>
  await fetch(`${url}/v1/auth/welcome/`, {
    method: 'POST',
    headers: { ...CONSOLE, 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  });

async function stop(serving: Serving): Promise<void> {
  serving.kill('SIGTERM');
  assert.equal((await serving.ended).code, 0);
}

it('serve --demo prints first, on a terminal, a link of the console that signs in the demo owner once; the next start replaces it', async () => {
  const first = await startServing(['--demo'], { env, columns: 100 });
  const [, , unused = ''] = await first.prints(/^ {2}Console {2}(\S+)\/console\/#welcome=(\S+)$/m);
  await stop(first);
  const serving = await startServing(['--demo'], { env, columns: 100 });
  const [, base, token = ''] = await serving.prints(/^ {2}Console {2}(\S+)\/console\/#welcome=(\S+)$/m);
  assert.equal(base, serving.url);
  const printed = serving.output();
  assert.ok(printed.indexOf('Console') < printed.indexOf('Roomservice listens on'));
  assert.equal((await welcome(serving, unused)).status, 401);
  const answer = await welcome(serving, token);
  assert.equal(answer.status, 200);
  assert.equal(((await answer.json()) as { person: { email: string } }).person.email, 'owner@demo.example');
  assert.equal((await welcome(serving, token)).status, 401);
  await stop(serving);
  assert.equal(serving.output().split(token).length, 2, 'the log does not have the token');
});

it('serve --demo prints no link if stdout is not a terminal; serve without --demo prints none either', async () => {
  for (const [args, columns] of [
    [['--demo'], undefined],
    [[], 100],
    [['--demo', '--only', 'worker'], 100],
  ] as const) {
    const serving = await startServing([...args], { env, columns });
    await stop(serving);
    assert.doesNotMatch(serving.output(), /welcome=/);
  }
});
