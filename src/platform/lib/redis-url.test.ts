import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parseRedisUrl } from './redis-url.ts';

describe('parseRedisUrl', () => {
  it('parseRedisUrl returns the URL of one server unchanged', () => {
    assert.deepEqual(parseRedisUrl('rediss://u:p@h:1/2'), { mode: 'server', url: 'rediss://u:p@h:1/2' });
  });

  it('for a URL of a Redis Cluster, parseRedisUrl returns all hosts with their ports, and the decoded user name and password', () => {
    assert.deepEqual(parseRedisUrl('rediss+cluster://me:a%40b:c@one:7000,[::1]:7001,10.0.0.3'), {
      mode: 'cluster',
      hosts: [
        { host: 'one', port: 7000 },
        { host: '::1', port: 7001 },
        { host: '10.0.0.3', port: 6379 },
      ],
      login: { username: 'me', password: 'a@b:c' },
      isEncrypted: true,
    });
  });

  it('for a URL of Sentinels, parseRedisUrl returns the primary name, the database, and the logins of Redis and of the Sentinels', () => {
    const url = 'redis+sentinel://:secret@one,two:1/my%20primary/3?sentinel_username=watch&sentinel_password=p%26q';
    assert.deepEqual(parseRedisUrl(url), {
      mode: 'sentinel',
      hosts: [
        { host: 'one', port: 26379 },
        { host: 'two', port: 1 },
      ],
      primaryName: 'my primary',
      database: 3,
      login: { password: 'secret' },
      sentinelLogin: { username: 'watch', password: 'p&q' },
      isEncrypted: false,
    });
  });

  it('parseRedisUrl returns null for a URL that is not a valid URL of one Redis server, a Redis Cluster or Sentinels', () => {
    for (const url of [
      'redis+cluster:h',
      'redis+cluster://h/1',
      'redis+sentinel://h',
      'redis+proxy://h',
      'redis://a,b',
    ]) {
      assert.equal(parseRedisUrl(url), null, url);
    }
  });
});
