import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { type MailSettings, readConfig } from './config.ts';
import { OperatorError } from './errors.ts';

type Environment = Record<string, string>;
const MAIL = { SMTP_URL: 'smtp://mail.example', MAIL_FROM: 'house@mail.example', PUBLIC_URL: 'https://api.example' };

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

describe('valid settings of mail', () => {
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

  it('SMTP_URL may be in a file whose path is in SMTP_URL_FILE, and a message about this URL does not show it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'roomservice-mail-'));
    try {
      const path = join(folder, 'url');
      writeFileSync(path, 'smtp://u:p@mail.example\n');
      const { mail } = readConfig({ ...MAIL, SMTP_URL: '', SMTP_URL_FILE: path });
      assert.deepEqual(mail?.server.login, { username: 'u', password: 'p' });
      writeFileSync(path, 'hunter2');
      const fault = faultOf({ ...MAIL, SMTP_URL: '', SMTP_URL_FILE: path });
      assert.ok(fault.startsWith('SMTP_URL must be') && !fault.includes('hunter2'), fault);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('invalid settings of mail', () => {
  const wrong: [variable: string, values: string[]][] = [
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
    ],
    ['PUBLIC_URL', ['']],
  ];
  for (const [variable, values] of wrong) {
    for (const value of values) {
      it(`${variable}=${JSON.stringify(value)} is refused with one line that names the variable and shows no secret`, () => {
        const fault = faultOf({ ...MAIL, SMTP_URL: 'smtp://user:hunter2@mail.example', [variable]: value });
        assert.match(fault, new RegExp(`^${variable} (?:must|is missing).*$`));
        assert.ok(!fault.includes('hunter2'), fault);
      });
    }
  }
});
