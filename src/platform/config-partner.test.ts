import assert from 'node:assert/strict';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readPartnerConfig } from './config.ts';
import { OperatorError } from './errors.ts';

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
    const wrong: [Record<string, string>, RegExp][] = [
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
