import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { inspectConfig } from './config.ts';
import { SETTINGS, SETTING_NAMES } from './settings.ts';

const REPOSITORY = join(import.meta.dirname, '../..');

it('README.md has one row for each environment variable, in the order of SETTINGS, with the same default and meaning', async () => {
  const readme = await readFile(join(REPOSITORY, 'README.md'), 'utf8');
  const rows = [...readme.matchAll(/^\| `([A-Z_]+)` \| (.*?) \| (.*) \|$/gm)].map(([, name, value, meaning]) => ({
    name,
    value,
    meaning: meaning?.replace(/ \(\[more\]\(.*\)\)$/, ''),
  }));
  const expected = SETTINGS.map(({ name, default: value, otherwise, meaning }) => ({
    name,
    value: value === null ? (otherwise ?? 'none') : `\`${value}\``,
    meaning,
  }));
  assert.deepEqual(rows, expected);
});

it('README.md names each variable with the suffix _FILE that the service reads', async () => {
  const readme = await readFile(join(REPOSITORY, 'README.md'), 'utf8');
  const named = new Set([...readme.matchAll(/`([A-Z_]+_FILE)\b/g)].map(([, name]) => name));
  assert.deepEqual(named, new Set([...SETTING_NAMES].filter((name) => name.endsWith('_FILE'))));
});

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
      ['DATABASE_URL', 'environment'],
      ['MASTER_KEY', 'default'],
      ['PORT', 'environment'],
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
