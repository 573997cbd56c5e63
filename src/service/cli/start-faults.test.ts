import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { after, before, describe, it, type TestContext } from 'node:test';
import { cleanUp, postgresPid, runCommand } from '#test/support/command.ts';
import { newMigratedDataDir } from '#test/support/migrated-data-dir.ts';
import { startService, type TestService } from '#test/support/service.ts';

describe('serve that cannot start', () => {
  let service: TestService;
  let env: Record<string, string>;

  before(async () => {
    service = await startService();
    env = { DATABASE_URL: service.database.url, MASTER_KEY: service.masterKey.toString('base64') };
  });
  after(async () => {
    await cleanUp();
    await service.close();
  });

  it('serve exits 1 with one line that names the variable if PORT or METRICS_PORT is in use', async (t) => {
    const port = await takenPort(t);
    const names = ['PORT', 'METRICS_PORT'];
    const ends = names.map((name) => runCommand(['serve'], { env: { ...env, [name]: String(port) } }));
    for (const [index, { code, stderr, stdout }] of (await Promise.all(ends)).entries()) {
      assert.equal(code, 1);
      const fault = `The service cannot listen on ${names[index]} ${port} of 127.0.0.1 (EADDRINUSE): another process listens there`;
      assert.equal(stderr, `roomservice: ${fault}. Set another ${names[index]}.\n`);
      assert.doesNotMatch(stdout, /Roomservice listens/);
    }
  });

  it('serve exits 1 with one line that shows the host but not the password if the database is out of reach', async () => {
    const hosts = ['127.0.0.1:1', 'localhost:1'];
    const ends = hosts.map(async (host) => {
      const url = `postgres://someone:hidden-word@${host}/nowhere`;
      return { host, ...(await runCommand(['serve'], { env: { ...env, DATABASE_URL: url } })) };
    });
    for (const { host, code, stderr } of await Promise.all(ends)) {
      assert.equal(code, 1);
      assert.match(stderr, /^roomservice: .*out of reach.*ECONNREFUSED.*DATABASE_URL.*\n$/);
      assert.ok(stderr.includes(host) && !stderr.includes('hidden-word'), stderr);
    }
  });

  it('serve exits 1 with one line about MASTER_KEY if the database was created with another key', async () => {
    const { code, stderr } = await runCommand(['serve'], {
      env: { ...env, MASTER_KEY: Buffer.alloc(32, 7).toString('base64') },
    });
    assert.equal(code, 1);
    assert.match(stderr, /^roomservice: The master key .+ MASTER_KEY .+\n$/);
  });

  it('serve stops the PostgreSQL that it started if PORT is in use', async (t) => {
    const port = await takenPort(t);
    const dataDir = await newMigratedDataDir();
    const { code, stderr } = await runCommand(['serve', '--demo'], { env: { DATA_DIR: dataDir, PORT: String(port) } });
    assert.equal(code, 1);
    assert.match(stderr, /EADDRINUSE/);
    assert.equal(await postgresPid(dataDir), 0);
  });

  it('serve exits 1 with one line about DATA_DIR if its path cannot be a folder', async () => {
    const { code, stderr } = await runCommand(['serve'], { env: { DATA_DIR: '/dev/null/data' } });
    assert.equal(code, 1);
    assert.match(stderr, /^roomservice: DATA_DIR \S+ cannot be used \((?:ENOTDIR|EEXIST)\).*\n$/);
  });
});

/** Listens on a free port until the test ends, so that `serve` cannot use this port. @returns the port */
async function takenPort(t: TestContext): Promise<number> {
  const squatter = createServer().listen(0, '127.0.0.1');
  t.after(() => squatter.close());
  await once(squatter, 'listening');
  return (squatter.address() as AddressInfo).port;
}
