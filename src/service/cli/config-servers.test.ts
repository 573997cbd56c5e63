import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { cleanUp, newDataDir, newFolder, runCommand } from '#test/support/command.ts';
import { findPgbouncer, startPgbouncer } from '#test/support/pgbouncer.ts';
import { createRedis, findRedis } from '#test/support/redis.ts';
import { startRedisCluster, startRedisSentinels } from '#test/support/redis-groups.ts';
import { startService } from '#test/support/service.ts';
import { TRY_LIMIT_MS } from './config-findings.ts';

/** Runs `config check`. @returns the exit code, the line of the output that begins with `title`, and stderr */
async function lineAbout(
  title: string,
  env: Record<string, string>,
): Promise<[code: number | null, line: string, stderr: string]> {
  const { code, stdout, stderr } = await runCommand(['config', 'check'], { env });
  return [code, stdout.split('\n').find((line) => line.startsWith(title)) ?? stdout, stderr];
}

describe('roomservice config check: the own address, poolers and groups of servers', () => {
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

  const program = findRedis() ?? '';
  const skip = program === '' && 'this machine has no redis-server and no valkey-server';

  it('config check exits 0 if all primaries of a Redis Cluster respond, and exits 1 if one of them is down', {
    skip,
  }, async (t) => {
    const cluster = await startRedisCluster(program);
    t.after(() => cluster.close());
    const env = { DATA_DIR: await newDataDir(), REDIS_URL: cluster.url };
    assert.deepEqual(await lineAbout('Redis', env), [0, 'Redis: usable. 3 primaries of the cluster respond.', '']);
    await cluster.primaries[1]?.kill();
    const [code, line] = await lineAbout('Redis', env);
    assert.equal(code, 1);
    assert.match(line, /^Redis: fault\. Redis cannot be used \(.+\)\. Check REDIS_URL/);
  });

  it('config check exits 0 if Sentinels name a primary that responds', { skip }, async (t) => {
    const group = await startRedisSentinels(program);
    t.after(() => group.close());
    const env = { DATA_DIR: await newDataDir(), REDIS_URL: group.url };
    assert.deepEqual(await lineAbout('Redis', env), [0, 'Redis: usable. 1 server responds.', '']);
  });

  it('config check exits 0 even if loading the Redis library blocks the process for longer than the time limit of each server', {
    skip,
  }, async (t) => {
    const redis = await createRedis(program);
    t.after(() => redis.close());
    await redis.start();
    const blocker = join(await newFolder(), 'blocker.mjs');
    await writeFile(
      blocker,
      `import { registerHooks } from 'node:module';
       const block = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ${TRY_LIMIT_MS + 1_000});
       registerHooks({ resolve: (name, context, next) => (name === 'redis' && block(), next(name, context)) });`,
    );
    const env = {
      DATA_DIR: await newDataDir(),
      REDIS_URL: redis.url,
      NODE_OPTIONS: `--import ${pathToFileURL(blocker).href}`,
    };
    assert.deepEqual(await lineAbout('Redis', env), [0, 'Redis: usable. 1 server responds.', '']);
  });
});
