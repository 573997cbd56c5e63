import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { inspectConfig, misspelledVariables } from './config.ts';
import { SETTINGS, SETTING_NAMES } from './settings.ts';

const REPOSITORY = join(import.meta.dirname, '../..');

it('the service has at most 26 settings', () => assert.ok(SETTINGS.length <= 26));

it('each documentation page that SETTINGS names is a file of the repository, and begins with a title', async () => {
  for (const { page } of SETTINGS) {
    if (page !== undefined) {
      assert.match(await readFile(join(REPOSITORY, page), 'utf8'), /^# /);
    }
  }
});

it('inspectConfig reads exactly the variables of SETTINGS and, for secret variables only, the same name with the suffix _FILE', () => {
  const asked = new Set<string>();
  const record = (_: object, name: string | symbol) => void asked.add(String(name));
  const { readings } = inspectConfig(new Proxy({}, { get: record }));
  assert.deepEqual([...asked].sort(), [...SETTING_NAMES].sort());
  assert.deepEqual([...readings.keys()].sort(), SETTINGS.map(({ name }) => name).sort());
});

it('inspectConfig reports the source and the fault of each variable, and all faults together', () => {
  const { config, readings } = inspectConfig({
    PORT: 'x',
    HOST: '::',
    DATABASE_URL: 'mysql://u:hunter2@h/d',
    MASTER_KEY_PREVIOUS_FILE: '/dev/null',
    AUTH_ISSUER: 'https://id.example',
  });
  const faulty = [...readings].filter(([, { fault }]) => fault !== null);
  assert.deepEqual(
    faulty.map(([name, { source }]) => [name, source]),
    [
      ['PORT', 'environment'],
      ['DATABASE_URL', 'environment'],
      ['MASTER_KEY', 'default'],
      ['MASTER_KEY_PREVIOUS', 'file'],
      ['AUTH_AUDIENCE', 'default'],
      ['AUTH_JWKS_URL', 'default'],
    ],
  );
  for (const [name, { fault }] of faulty) {
    assert.match(fault ?? '', new RegExp(`^${name}(_FILE)? (must|is) `));
    assert.doesNotMatch(fault ?? '', /hunter2/);
  }
  assert.deepEqual([config.port, config.host, config.databaseUrl, config.identityProvider], [8080, '::', null, null]);
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
    assert.deepEqual(misspelledVariables({ PORT: '1', MASTER_KEY_FILE: 'x', DATABASE_URL: 'x', AUTH_ISSUER: 'x' }), []);
  });

  for (const [name, meant] of [
    ['DATABSE_URL', 'DATABASE_URL'],
    ['DATABASE_URI', 'DATABASE_URL'],
    ['DATABASE_ULR', 'DATABASE_URL'],
    ['database_url', 'DATABASE_URL'],
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
