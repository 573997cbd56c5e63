import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { type Config, type MailSettings, readConfig } from './config.ts';
import { OperatorError } from './errors.ts';
import { createHttpApp } from './http/app.ts';
import { createLogger } from './http/log.ts';
import { RedisBudgets } from './http/redis-budgets.ts';

const KEY = Buffer.alloc(32, 'a master key');
const KEY_TEXT = KEY.toString('base64');
const PROVIDER = {
  AUTH_ISSUER: 'https://id.example/',
  AUTH_AUDIENCE: 'roomservice',
  AUTH_JWKS_URL: 'https://id.example/keys',
};
const MAIL = {
  SMTP_URL: 'smtp://user:hunter2@mail.example',
  MAIL_FROM: 'house@mail.example',
  PUBLIC_URL: 'https://api.example',
};
type Environment = Record<string, string>;

function faultOf(environment: Environment): string {
  try {
    readConfig(environment);
  } catch (error) {
    assert.ok(error instanceof OperatorError, String(error));
    return error.message;
  }
  throw new assert.AssertionError({ message: `${JSON.stringify(environment)} was accepted` });
}

describe('defaults of readConfig', () => {
  const defaults: Config = {
    port: 8080,
    host: '127.0.0.1',
    keepAliveSeconds: 72,
    stopGrace: null,
    publicUrl: null,
    dataDir: './data',
    databaseUrl: null,
    databasePoolSize: 20,
    redisUrl: null,
    masterKey: null,
    masterKeyPrevious: null,
    rateLimitPerMinute: 300,
    webhookHeaderBrand: 'Service',
    webhookAllowPrivateNetwork: false,
    eventRetentionDays: 30,
    identityProvider: null,
    mail: null,
    trustedProxies: [],
    logLevel: 'info',
    metricsPort: null,
  };

  it('all settings have their defaults if the environment is empty', () => assert.deepEqual(readConfig({}), defaults));

  it('a variable with an empty value counts as not set, so all settings have their defaults', () => {
    const names =
      `PORT HOST KEEP_ALIVE_SECONDS PUBLIC_URL DATA_DIR DATABASE_URL DATABASE_URL_FILE DATABASE_POOL_SIZE DATABASE_POOLER
      REDIS_URL MASTER_KEY MASTER_KEY_FILE MASTER_KEY_PREVIOUS RATE_LIMIT_PER_MINUTE WEBHOOK_HEADER_BRAND WEBHOOK_ALLOW_PRIVATE_NETWORK EVENT_RETENTION_DAYS
      TRUSTED_PROXIES LOG_LEVEL METRICS_PORT AUTH_ISSUER AUTH_AUDIENCE AUTH_JWKS_URL AUTH_EMAIL_VERIFIED_REQUIRED
      SMTP_URL MAIL_FROM`.split(/\s+/);
    assert.deepEqual(readConfig(Object.fromEntries(names.map((name) => [name, '']))), defaults);
  });
});

describe('valid values of the environment variables', () => {
  const databaseUrl = 'postgres://user:secret@db.example:5432/rooms?sslmode=verify-full';
  const good: [Environment, Partial<Config>][] = [
    [{ PORT: '0' }, { port: 0 }],
    [{ PORT: '65535' }, { port: 65_535 }],
    [{ HOST: '::' }, { host: '::' }],
    [{ PUBLIC_URL: 'https://api.example' }, { publicUrl: 'https://api.example' }],
    [{ PUBLIC_URL: 'https://api.example/base/' }, { publicUrl: 'https://api.example/base' }],
    [{ DATA_DIR: '/var/lib/x' }, { dataDir: '/var/lib/x' }],
    [
      { DATABASE_URL: databaseUrl, MASTER_KEY: KEY_TEXT },
      { databaseUrl, masterKey: KEY },
    ],
    [
      { DATABASE_URL: 'postgresql://h/d', MASTER_KEY: KEY_TEXT },
      { databaseUrl: 'postgresql://h/d', masterKey: KEY },
    ],
    [{ DATABASE_POOL_SIZE: '2' }, { databasePoolSize: 2 }],
    [
      { DATABASE_URL: databaseUrl, MASTER_KEY: KEY_TEXT, DATABASE_POOLER: 'true' },
      { databaseUrl: `${databaseUrl}&pooler=true`, masterKey: KEY },
    ],
    [{ REDIS_URL: 'redis://cache.example' }, { redisUrl: 'redis://cache.example' }],
    [{ REDIS_URL: 'rediss://u:p%2F@c:6380/3' }, { redisUrl: 'rediss://u:p%2F@c:6380/3' }],
    [{ MASTER_KEY: KEY_TEXT }, { masterKey: KEY }],
    [{ MASTER_KEY: KEY.toString('base64url') }, { masterKey: KEY }],
    [
      { MASTER_KEY: KEY_TEXT, MASTER_KEY_PREVIOUS: KEY_TEXT },
      { masterKey: KEY, masterKeyPrevious: KEY },
    ],
    [{ RATE_LIMIT_PER_MINUTE: '1' }, { rateLimitPerMinute: 1 }],
    [{ WEBHOOK_HEADER_BRAND: 'Harbour-House' }, { webhookHeaderBrand: 'Harbour-House' }],
    [{ WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true' }, { webhookAllowPrivateNetwork: true }],
    [{ WEBHOOK_ALLOW_PRIVATE_NETWORK: 'false' }, { webhookAllowPrivateNetwork: false }],
    [{ EVENT_RETENTION_DAYS: '1' }, { eventRetentionDays: 1 }],
    [{ EVENT_RETENTION_DAYS: '3650' }, { eventRetentionDays: 3650 }],
    [
      { TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.1,fd00::/8' },
      { trustedProxies: ['10.0.0.0/8', '192.0.2.1', 'fd00::/8'] },
    ],
    [{ LOG_LEVEL: 'silent' }, { logLevel: 'silent' }],
    [{ KEEP_ALIVE_SECONDS: '620' }, { keepAliveSeconds: 620 }],
    [{ STOP_GRACE: '0' }, { stopGrace: 0 }],
    [{ METRICS_PORT: '9464' }, { metricsPort: 9464 }],
    [
      PROVIDER,
      {
        identityProvider: {
          issuer: PROVIDER.AUTH_ISSUER,
          audience: 'roomservice',
          jwksUrl: new URL(PROVIDER.AUTH_JWKS_URL),
          requiresVerifiedEmail: true,
        },
      },
    ],
    [
      { ...PROVIDER, AUTH_EMAIL_VERIFIED_REQUIRED: 'false' },
      {
        identityProvider: {
          issuer: PROVIDER.AUTH_ISSUER,
          audience: 'roomservice',
          jwksUrl: new URL(PROVIDER.AUTH_JWKS_URL),
          requiresVerifiedEmail: false,
        },
      },
    ],
  ];
  for (const [environment, expected] of good) {
    const names = Object.entries(environment)
      .map(([name, value]) => `${name}=${value}`)
      .join(' and ');
    const settings = Object.keys(expected).join(' and ');
    it(`with ${names}, readConfig sets ${settings}, and all other settings keep their defaults`, () => {
      assert.deepEqual(readConfig(environment), { ...readConfig({}), ...expected });
    });
  }

  const servers: [url: string, server: MailSettings['server']][] = [
    ['smtp://mail.example', { host: 'mail.example', port: 587, isEncrypted: false, login: null }],
    ['smtps://mail.example:2465/', { host: 'mail.example', port: 2465, isEncrypted: true, login: null }],
    [
      'smtps://user%40mail:p%2F%25@[::1]',
      { host: '::1', port: 465, isEncrypted: true, login: { username: 'user@mail', password: 'p/%' } },
    ],
  ];
  for (const [url, server] of servers) {
    it(`readConfig takes the host, the port, the encryption and the decoded login from SMTP_URL=${url}`, () => {
      assert.deepEqual(readConfig({ ...MAIL, SMTP_URL: url }).mail?.server, server);
    });
  }

  it('MAIL_FROM may be an address, or a name with an address', () => {
    const senderOf = (from: string) => readConfig({ ...MAIL, MAIL_FROM: from }).mail?.sender;
    assert.deepEqual(senderOf(' house@mail.example'), { name: '', address: 'house@mail.example' });
    assert.deepEqual(senderOf('<house@mail.example>'), { name: '', address: 'house@mail.example' });
    assert.deepEqual(senderOf('Müller’s House <a+b@c.example>'), { name: 'Müller’s House', address: 'a+b@c.example' });
  });

  it('if only PUBLIC_URL is set, the settings of mail are null', () => {
    assert.equal(readConfig({ PUBLIC_URL: MAIL.PUBLIC_URL }).mail, null);
  });

  it('AUTH_JWKS_URL may be an http URL if its host is localhost or a loopback address', () => {
    for (const host of ['localhost', '127.0.0.1:8081', '[::1]:8081']) {
      const { identityProvider } = readConfig({ ...PROVIDER, AUTH_JWKS_URL: `http://${host}/keys` });
      assert.equal(identityProvider?.jwksUrl.host, host);
    }
  });

  it('values of TRUSTED_PROXIES and REDIS_URL that readConfig accepts are also accepted by the HTTP app and the Redis client', async () => {
    const { trustedProxies, redisUrl } = readConfig({
      TRUSTED_PROXIES: '0.0.0.0/1,::/1,::ffff:10.0.0.0/104,fe80::1',
      REDIS_URL: 'redis://user:p%25@127.0.0.1:1/15',
    });
    const logger = createLogger('silent', { write: () => {} });
    await createHttpApp({ logger, trustedProxies }).close();
    await (await RedisBudgets.open(redisUrl ?? '', logger)).close();
  });
});

describe('invalid values of the environment variables', () => {
  const wrong: [variable: string, values: string[], otherVariables?: Environment][] = [
    ['PORT', ['-1', '65536', '80.5', '1e3', '0x50', 'http', ' 80', '8080\n']],
    ['METRICS_PORT', ['-1', '65536', 'yes']],
    ['KEEP_ALIVE_SECONDS', ['0', '-1', '86401', '1.5', '72s']],
    ['AUTH_EMAIL_VERIFIED_REQUIRED', ['no', '1', 'TRUE']],
    [
      'PUBLIC_URL',
      ['api.example', 'ftp://api.example', 'https://', 'https://x/?a=1', 'https://x/?', 'https://x/#', '/v1'],
    ],
    [
      'DATABASE_URL',
      ['mysql://user:hunter2@h/d', 'hunter2', 'postgres://user:hunter2@[::1/d', 'postgres://u:hunter2@h:99999/'],
    ],
    ['DATABASE_POOL_SIZE', ['0', '1', '1001', 'many', '5.5', 'auto']],
    ['DATABASE_POOLER', ['yes', 'transaction', 'TRUE']],
    [
      'REDIS_URL',
      [
        'http://:hunter2@h',
        'hunter2',
        'redis:hunter2',
        'redis://:hunter2@h/x',
        'redis://:hunter2%zz@h',
        'redis://',
        'redis://:hunter2@a,b',
        'redis+cluster://:hunter2@a,b',
      ],
    ],
    [
      'MASTER_KEY',
      ['hunter2', KEY.subarray(1).toString('base64'), Buffer.alloc(33).toString('base64'), `${KEY_TEXT} hunter2`],
    ],
    ['MASTER_KEY_PREVIOUS', ['hunter2', KEY.toString('hex')], { MASTER_KEY: KEY_TEXT }],
    ['RATE_LIMIT_PER_MINUTE', ['0', '-1', '1.5', 'unlimited']],
    ['WEBHOOK_HEADER_BRAND', ['-Brand', 'Brand-', 'My Brand', 'Bränd', 'X\r\nY', 'a'.repeat(41)]],
    ['WEBHOOK_ALLOW_PRIVATE_NETWORK', ['1', 'yes', 'TRUE', 'on']],
    ['EVENT_RETENTION_DAYS', ['0', '-1', '3651', '1.5', '30d', 'forever']],
    [
      'TRUSTED_PROXIES',
      [
        'loopback',
        '10.0.0.0/33',
        '10.0.0.0/8/9',
        '::/129',
        '0.0.0.0/0',
        '::/0',
        '10.0.0.1,',
        '10.0.0.0/x',
        '10.0.0.0/',
      ],
    ],
    ['LOG_LEVEL', ['INFO', 'verbose', '30']],
    [
      'AUTH_JWKS_URL',
      ['http://id.example/keys', 'id.example', 'file:///keys', 'https://u:hunter2@id.example/keys'],
      PROVIDER,
    ],
    ['AUTH_ISSUER', [''], PROVIDER],
    ['AUTH_AUDIENCE', [''], PROVIDER],
    ['AUTH_JWKS_URL', [''], PROVIDER],
    [
      'SMTP_URL',
      [
        '',
        'hunter2',
        'mail.example',
        'http://user:hunter2@mail.example',
        'smtp://',
        'smtp://user:hunter2@',
        'smtp://user@mail.example',
        'smtp://:hunter2@mail.example',
        'smtp://user:hunter2%zz@mail.example',
        'smtp://user:hunter2@mail.example/inbox',
        'smtp://user:hunter2@mail.example?pool=true',
        'smtp://user:hunter2@mail.example#tls',
        'smtp://user:hunter2@mail.example:0',
        'smtp://user:hunter2@mail.example:99999',
      ],
      MAIL,
    ],
    [
      'MAIL_FROM',
      [
        '',
        'House',
        'house@',
        '@mail.example',
        'a@b@c.example',
        'House <house@mail.example',
        'House <a@b.example>, <c@d.example>',
        'a@b.example, c@d.example',
        'House\r\nBcc: x <a@b.example>',
        'a@b.example\nBcc: c@d.example',
      ],
      MAIL,
    ],
    ['PUBLIC_URL', [''], MAIL],
  ];
  for (const [variable, values, otherVariables] of wrong) {
    for (const value of values) {
      it(`${variable}=${JSON.stringify(value)} is refused with one line that names the variable and shows no secret`, () => {
        const fault = faultOf({ MASTER_KEY: KEY_TEXT, ...otherVariables, [variable]: value });
        assert.match(fault, new RegExp(`^${variable} (?:must|is missing).*$`));
        assert.ok(!fault.includes('hunter2') && !fault.includes(KEY_TEXT), fault);
      });
    }
  }

  it('if several variables are wrong, the message has one line for each of them', () => {
    const fault = faultOf({ PORT: 'x', DATABASE_URL: 'postgres://u:hunter2@h/d', LOG_LEVEL: 'loud' });
    assert.match(fault, /^Settings are wrong:\n {2}PORT must .+\n {2}MASTER_KEY is .+\n {2}LOG_LEVEL must .+$/);
    assert.doesNotMatch(fault, /hunter2/);
  });

  it('DATABASE_URL without MASTER_KEY is refused, and the message does not show the database password', () => {
    assert.match(faultOf({ DATABASE_URL: 'postgres://u:hunter2@h/d' }), /^MASTER_KEY is required with DATABASE_URL/);
    assert.doesNotMatch(faultOf({ DATABASE_URL: 'postgres://u:hunter2@h/d' }), /hunter2/);
  });
});

describe('variables with the suffix _FILE', () => {
  const directory = mkdtempSync(join(tmpdir(), 'roomservice-config-'));
  after(() => rmSync(directory, { recursive: true }));
  const file = (content: string | Buffer) => {
    const path = join(directory, randomBytes(4).toString('hex'));
    writeFileSync(path, content);
    return path;
  };

  it('a variable with the suffix _FILE gives the path of a file with the secret, and a final line break in the file is ignored', () => {
    const config = readConfig({
      DATABASE_URL_FILE: file('postgres://u:p@h/d\n'),
      REDIS_URL_FILE: file('redis://h\r\n'),
      MASTER_KEY_FILE: file(`${KEY_TEXT}\n`),
      MASTER_KEY_PREVIOUS_FILE: file(KEY_TEXT),
      ...MAIL,
      SMTP_URL: '',
      SMTP_URL_FILE: file('smtp://u:p@mail.example\n'),
    });
    assert.equal(config.databaseUrl, 'postgres://u:p@h/d');
    assert.equal(config.redisUrl, 'redis://h');
    assert.deepEqual([config.masterKey, config.masterKeyPrevious], [KEY, KEY]);
    assert.deepEqual(config.mail?.server.login, { username: 'u', password: 'p' });
  });

  it('MASTER_KEY_FILE together with MASTER_KEY is refused', () => {
    assert.match(faultOf({ MASTER_KEY: KEY_TEXT, MASTER_KEY_FILE: file(KEY_TEXT) }), /^MASTER_KEY and MASTER_KEY_FILE/);
  });

  it('a variable with the suffix _FILE is refused if the file is missing, is a folder or is empty', () => {
    for (const path of [join(directory, 'none'), directory, file(''), file('\n')]) {
      for (const variable of ['DATABASE_URL_FILE', 'REDIS_URL_FILE', 'MASTER_KEY_FILE', 'MASTER_KEY_PREVIOUS_FILE']) {
        assert.match(
          faultOf({ ...(variable === 'DATABASE_URL_FILE' ? { MASTER_KEY: KEY_TEXT } : {}), [variable]: path }),
          new RegExp(`^${variable} must be the path of a`),
        );
      }
    }
  });

  it('a byte order mark in a file of a secret is skipped, and a file that is not UTF-8 is refused', () => {
    assert.equal(readConfig({ REDIS_URL_FILE: file('\uFEFFredis://h\n') }).redisUrl, 'redis://h');
    for (const encoding of ['latin1', 'utf16le'] as const) {
      for (const variable of ['DATABASE_URL_FILE', 'REDIS_URL_FILE', 'MASTER_KEY_FILE']) {
        const others = variable === 'DATABASE_URL_FILE' ? { MASTER_KEY: KEY_TEXT } : {};
        const fault = faultOf({ ...others, [variable]: file(Buffer.from('postgres://u:hunter2ü@h/d', encoding)) });
        assert.match(fault, new RegExp(`^${variable} must be the path of a file of UTF-8 text`));
        assert.ok(!fault.includes('hunter2'));
      }
    }
  });

  it('the message about an invalid secret from a file does not show the content of the file', () => {
    const path = file('hunter2');
    for (const variable of ['DATABASE_URL', 'REDIS_URL', 'MASTER_KEY', 'MASTER_KEY_PREVIOUS', 'SMTP_URL']) {
      const others = variable === 'SMTP_URL' ? MAIL : { MASTER_KEY: variable.startsWith('MASTER') ? '' : KEY_TEXT };
      const fault = faultOf({ ...others, [variable]: '', [`${variable}_FILE`]: path });
      assert.ok(fault.startsWith(`${variable} must be`) && !fault.includes('hunter2'), fault);
    }
  });
});

it('METRICS_PORT is refused if it is equal to PORT, but both may be 0', () => {
  assert.equal(faultOf({ PORT: '18202', METRICS_PORT: '18202' }), 'METRICS_PORT must differ from PORT, which is 18202');
  assert.match(faultOf({ METRICS_PORT: '8080' }), /^METRICS_PORT .* which is 8080$/);
  assert.equal(readConfig({ PORT: '0', METRICS_PORT: '0' }).metricsPort, 0);
});
