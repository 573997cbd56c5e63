import assert from 'node:assert/strict';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type Config, misspelledVariables, readConfig, readPartnerConfig } from './config.ts';
import { OperatorError } from './errors.ts';
import { createHttpApp } from './http/app.ts';
import { createLogger } from './http/log.ts';
import { createRedisBudgets } from './http/redis-budgets.ts';

const KEY = Buffer.alloc(32, 'a master key');
const KEY_TEXT = KEY.toString('base64');
const PROVIDER = {
  AUTH_ISSUER: 'https://id.example/',
  AUTH_AUDIENCE: 'roomservice',
  AUTH_JWKS_URL: 'https://id.example/keys',
};
type Environment = Record<string, string>;

/** Returns the message of the error that `readConfig` throws for an invalid environment. */
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
    stopGraceSeconds: null,
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
      { DATABASE_URL: databaseUrl, MASTER_KEY: KEY_TEXT, DATABASE_POOLER: 'transaction' },
      { databaseUrl: `${databaseUrl}&pooler=transaction`, masterKey: KEY },
    ],
    [{ REDIS_URL: 'redis://cache.example' }, { redisUrl: 'redis://cache.example' }],
    [{ REDIS_URL: 'rediss://u:p%2F@c:6380/3' }, { redisUrl: 'rediss://u:p%2F@c:6380/3' }],
    [{ REDIS_URL: 'rediss+cluster://:p@a:1,[::1]:2,c' }, { redisUrl: 'rediss+cluster://:p@a:1,[::1]:2,c' }],
    [{ REDIS_URL: 'redis+sentinel://a,b:2/main/1' }, { redisUrl: 'redis+sentinel://a,b:2/main/1' }],
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
    [{ STOP_GRACE: '0' }, { stopGraceSeconds: 0 }],
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
    const logger = await createLogger('silent');
    await createHttpApp({ logger, trustedProxies }).close();
    await (await createRedisBudgets(redisUrl ?? '', logger)).close();
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
    ['DATABASE_POOLER', ['true', 'session', 'TRANSACTION']],
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
        'redis+cluster://',
        'redis+cluster://:hunter2@a,,b',
        'redis+cluster://a/1',
        'redis+cluster://:hunter2@a:x',
        'redis+cluster://:hunt/er2@a',
        'redis+cluster://:hunter2%zz@a',
        'redis+sentinel://:hunter2@a',
        'redis+sentinel://a/',
        'redis+sentinel://a/main/x',
        'redis+sentinel://a/main/0/1',
        'redis+sentinel://a/main?password=hunter2',
        'redis+cluster://a?sentinel_password=hunter2',
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

  it('DATABASE_URL without MASTER_KEY is refused, and the message does not show the database password', () => {
    assert.match(faultOf({ DATABASE_URL: 'postgres://u:hunter2@h/d' }), /^MASTER_KEY is required with DATABASE_URL/);
    assert.doesNotMatch(faultOf({ DATABASE_URL: 'postgres://u:hunter2@h/d' }), /hunter2/);
  });
});

describe('readPartnerConfig', () => {
  const credential = { ROOMSERVICE_API_KEY: 'rsk_a', ROOMSERVICE_API_SECRET: 'rss_a' };

  it('readPartnerConfig uses default values for the URL and the state folder if only the credential is set', () => {
    assert.deepEqual(readPartnerConfig({}, credential), {
      serviceUrl: 'http://localhost:8080',
      apiKey: 'rsk_a',
      apiSecret: 'rss_a',
      proxyVariables: {},
      stateDir: join(homedir(), '.local/state/roomservice'),
    });
  });

  it('readPartnerConfig uses the variables BASE, KEY and SECRET only if the variables that begin with ROOMSERVICE_ are missing', () => {
    const printed = { BASE: 'http://127.0.0.1:1/', KEY: 'rsk_d', SECRET: 'rss_d' };
    const demo = readPartnerConfig({}, printed);
    assert.deepEqual([demo.serviceUrl, demo.apiKey, demo.apiSecret], ['http://127.0.0.1:1', 'rsk_d', 'rss_d']);
    const own = readPartnerConfig({}, { ...printed, ...credential, ROOMSERVICE_URL: 'https://api.example/base' });
    assert.deepEqual([own.serviceUrl, own.apiKey, own.apiSecret], ['https://api.example/base', 'rsk_a', 'rss_a']);
  });

  it('readPartnerConfig prefers the options of the command line to the environment variables', () => {
    const given = { url: 'https://other.example', apiKey: 'rsk_b' };
    const read = readPartnerConfig(given, { ...credential, ROOMSERVICE_URL: 'https://api.example' });
    assert.deepEqual([read.serviceUrl, read.apiKey], ['https://other.example', 'rsk_b']);
  });

  it('readPartnerConfig uses XDG_STATE_HOME only if it is an absolute path, as the XDG specification requires', () => {
    for (const [home, expected] of [
      ['/var/state', '/var/state/roomservice'],
      ['state', join(homedir(), '.local/state/roomservice')],
    ] as const) {
      assert.equal(readPartnerConfig({}, { ...credential, XDG_STATE_HOME: home }).stateDir, expected);
    }
  });

  it('readPartnerConfig throws an error that names the missing or invalid variable and does not show the secret', () => {
    const wrong: [Environment, RegExp][] = [
      [{}, /^ROOMSERVICE_API_KEY is missing: set /],
      [{ KEY: 'rsk_a' }, /^ROOMSERVICE_API_SECRET is missing: set /],
      [{ ...credential, ROOMSERVICE_API_SECRET: 'hunter2 ' }, /^ROOMSERVICE_API_SECRET must be exactly as it was/],
      [{ ...credential, ROOMSERVICE_API_KEY: 'a\nb' }, /^ROOMSERVICE_API_KEY must be exactly as it was issued/],
      [{ ...credential, ROOMSERVICE_URL: 'api.example' }, /^--url or ROOMSERVICE_URL must be an http or https URL/],
      [{ ...credential, ROOMSERVICE_API_SECRET_FILE: '/dev/null' }, /^ROOMSERVICE_API_SECRET and \S+_FILE/],
    ];
    for (const [environment, expected] of wrong) {
      assert.throws(
        () => readPartnerConfig({}, environment),
        (error) => error instanceof OperatorError && expected.test(error.message) && !error.message.includes('hunter2'),
      );
    }
  });
});

it('METRICS_PORT is refused if it is equal to PORT, but both may be 0', () => {
  assert.equal(faultOf({ PORT: '18202', METRICS_PORT: '18202' }), 'METRICS_PORT must differ from PORT, which is 18202');
  assert.match(faultOf({ METRICS_PORT: '8080' }), /^METRICS_PORT .* which is 8080$/);
  assert.equal(readConfig({ PORT: '0', METRICS_PORT: '0' }).metricsPort, 0);
});

describe('misspelledVariables', () => {
  /** Variables that containers, shells, CI, Kubernetes and other programs usually set. */
  const USUAL = `HOSTNAME HOSTTYPE HOSTS LOGNAME PATH PWD OLDPWD HOME USER SHELL SHLVL TERM LANG LC_ALL TZ EDITOR PAGER MAIL PS1 _ DISPLAY
    PORTS LOG LOGS LOG_DIR LOG_FILE LOG_FORMAT DATA DATA_PATH DATABASE DATABASE_HOST DATABASE_PORT DATABASE_NAME DB_URL PGHOST PGPORT
    PGDATABASE PGDATA REDIS_PORT REDIS_HOST REDIS_TLS_URL REDIS_SERVICE_HOST POSTGRES_URL POSTGRES_PASSWORD XDG_DATA_DIRS XDG_STATE_HOME
    XDG_RUNTIME_DIR KUBERNETES_PORT KUBERNETES_SERVICE_HOST ROOMSERVICE_PORT ROOMSERVICE_SERVICE_HOST ROOMSERVICE_PORT_8080_TCP
    ROOMSERVICE_URL ROOMSERVICE_API_KEY ROOMSERVICE_API_SECRET ROOMSERVICE_API_SECRET_FILE BASE KEY SECRET NODE_ENV NODE_OPTIONS
    NODE_COMPILE_CACHE NODE_EXTRA_CA_CERTS UV_THREADPOOL_SIZE MALLOC_MMAP_THRESHOLD_ http_proxy HTTPS_PROXY NO_PROXY npm_config_cache
    npm_lifecycle_event INIT_CWD COLORTERM CI GITHUB_TOKEN PUBLIC_IP AUTH_TOKEN API_URL BASE_URL MASTER METRICS METRICS_URL`;

  it('misspelledVariables gives no warning for usual variables of other programs or for correct variables of the service', () => {
    const usual = Object.fromEntries(USUAL.split(/\s+/).map((name) => [name, 'x']));
    assert.deepEqual(misspelledVariables(usual), []);
    assert.deepEqual(misspelledVariables({ ...PROVIDER, PORT: '1', MASTER_KEY_FILE: 'x', DATABASE_URL: 'x' }), []);
  });

  for (const [name, meant] of [
    ['DATABSE_URL', 'DATABASE_URL'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['DATABASE_ULR', 'DATABASE_URL'],
    ['database_url', 'DATABASE_URL'],
    ['ROOMSERVICE_DATABASE_URL', 'DATABASE_URL'],
    ['DATABASE_URLFILE', 'DATABASE_URL_FILE'],
    ['MASTERKEY', 'MASTER_KEY'],
    ['MASTER_KEY_PREVIUS', 'MASTER_KEY_PREVIOUS'],
    ['DATADIR', 'DATA_DIR'],
    ['LOGLEVEL', 'LOG_LEVEL'],
    ['REDIS_URI', 'REDIS_URL'],
    ['METRIC_PORT', 'METRICS_PORT'],
    ['TRUSTED_PROXY', ''],
    ['TRUSTED_PROXYS', 'TRUSTED_PROXIES'],
  ] as const) {
    const outcome = meant
      ? `suggests ${meant} for ${name}`
      : `ignores ${name}, which is too different from all settings`;
    it(`misspelledVariables ${outcome}`, () => {
      const expected = meant === '' ? [] : [`${name} is set, and has no effect. Did you mean ${meant}?`];
      assert.deepEqual(misspelledVariables({ [name]: 'x' }), expected);
      assert.deepEqual(misspelledVariables({ [name]: '' }), [], 'a variable with an empty value counts as not set');
      assert.deepEqual(misspelledVariables({ [name]: 'x', [meant]: 'x' }), [], 'the correct variable is set too');
    });
  }
});
