import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { cleanUp, newDataDir, runCommand } from '#test/support/command.ts';
import { findPgbouncer, startPgbouncer } from '#test/support/pgbouncer.ts';
import { startService } from '#test/support/service.ts';

/** Runs `config check`. @returns the exit code, the line of the output that begins with `title`, and stderr */
async function lineAbout(
  title: string,
  env: Record<string, string>,
): Promise<[code: number | null, line: string, stderr: string]> {
  const { code, stdout, stderr } = await runCommand(['config', 'check'], { env });
  return [code, stdout.split('\n').find((line) => line.startsWith(title)) ?? stdout, stderr];
}

describe('roomservice config check: the own address and poolers', () => {
  after(cleanUp);

  it('config check exits 0 if DATABASE_URL leads through PgBouncer in transaction mode', {
    skip: findPgbouncer() === undefined && 'this machine has no pgbouncer',
  }, async (t) => {
    const service = await startService();
    t.after(() => service.close());
    const pooler = await startPgbouncer(service.database.url);
    t.after(() => pooler.close());
    const [code, line, stderr] = await lineAbout('Database', {
      DATABASE_URL: pooler.urlOf(service.database.url),
      DATABASE_POOLER: 'transaction',
      MASTER_KEY: service.masterKey.toString('base64'),
    });
    assert.match(
      line,
      /^Database: usable\. It is PostgreSQL .+ It has all migrations\. The master key unwraps its keys\.$/,
    );
    assert.deepEqual([code, stderr], [0, '']);
  });

  it('config check exits 1 and says what to do if the service cannot listen on HOST', async () => {
    const of = async (host: string) => await lineAbout('Address', { DATA_DIR: await newDataDir(), HOST: host });
    assert.deepEqual(await of('localhost'), [0, 'Address: usable. This machine can listen on localhost.', '']);
    for (const host of ['nowhere.invalid', '192.0.2.1']) {
      const [code, line] = await of(host);
      assert.equal(code, 1);
      assert.match(line, /^Address: fault\. The service cannot listen on \S+ \(E\w+\): .+ Set another HOST\.$/);
    }
  });
});
