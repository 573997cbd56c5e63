import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { cleanUp, startServing } from '#test/support/command.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { newMigratedDataDir } from '#test/support/migrated-data-dir.ts';

const WARNING =
  /"level":40,[^\n]*"msg":"other machines can reach this service, and it uses the embedded PostgreSQL; docs\/operating\/embedded-database\.md/g;

describe('serve on an address that other machines can reach', () => {
  after(cleanUp);

  async function warnings(env: Record<string, string>): Promise<number> {
    const serving = await startServing([], { env });
    serving.kill('SIGTERM');
    const { code, stdout } = await serving.ended;
    assert.equal(code, 0);
    return [...stdout.matchAll(WARNING)].length;
  }

  it('serve with an embedded database warns once if other machines can reach it, but not on localhost or with DATABASE_URL', async () => {
    const dataDir = await newMigratedDataDir();
    const target = await createTestDatabase();
    const outside = { DATABASE_URL: target.url, MASTER_KEY: Buffer.alloc(32, 1).toString('base64') };
    assert.equal(await warnings({ DATA_DIR: dataDir, HOST: '0.0.0.0' }), 1);
    assert.equal(await warnings({ DATA_DIR: dataDir, HOST: 'localhost' }), 0);
    assert.equal(await warnings({ ...outside, HOST: '0.0.0.0' }), 0);
    await target.drop();
  });
});
