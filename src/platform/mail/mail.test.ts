import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { pino } from 'pino';
import { makeCertificate, trustCertificate } from '#test/support/certificate.ts';
import { type MailServerOptions, startMailServer } from '#test/support/smtp.ts';
import { eventually } from '#test/support/webhooks.ts';
import { type MailSettings, readConfig } from '../config.ts';
import { checkMailServer, createMailer, type Mail } from './mail.ts';

const LOGIN = { username: 'house@mail.example', password: 'p@ss/w:rd %' };
const LINK = 'https://api.example/console/#invite=a-secret-token';
const MAIL: Mail = {
  tenantId: 1,
  to: 'rui@demo.example',
  subject: 'Invitation to Müller’s House',
  text: `Choose a password with this link:\n\n${LINK}\n\nGrüße\n`,
  logged: { tenant_id: 1, user_id: 'u1' },
};

function settingsOf(url: string): MailSettings {
  const { mail } = readConfig({
    SMTP_URL: url,
    MAIL_FROM: 'Roomservice <noreply@mail.example>',
    PUBLIC_URL: 'https://api.example',
  });
  assert.ok(mail);
  return mail;
}

function mailerFor(t: TestContext, url: string) {
  const lines: string[] = [];
  const mailer = createMailer(settingsOf(url), pino({}, { write: (line: string) => void lines.push(line) }), 300);
  t.after(() => mailer.close());
  return { mailer, lines };
}

async function startServer(t: TestContext, options: MailServerOptions = {}) {
  const server = await startMailServer(options);
  t.after(() => server.close());
  return server;
}

/** Starts a server that accepts connections, and sends `greeting` and no other byte. @returns its SMTP_URL */
async function startSilentServer(t: TestContext, greeting: string): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}));
    socket.write(greeting);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    sockets.forEach((socket) => socket.destroy());
    server.close();
  });
  return `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('a mailer', () => {
  it('a mailer sends sender, subject and text to one address, and logs neither the address nor the link in the text', async (t) => {
    const server = await startServer(t);
    const { mailer, lines } = mailerFor(t, server.url);
    mailer.send(MAIL);
    const [mail] = await server.waitFor(1);
    assert.deepEqual([mail?.from, mail?.to], ['noreply@mail.example', ['rui@demo.example']]);
    assert.equal(mail?.headers.get('from'), 'Roomservice <noreply@mail.example>');
    assert.equal(mail.headers.get('to'), 'rui@demo.example');
    assert.match(mail.headers.get('subject') ?? '', /^=\?UTF-8\?/);
    assert.equal(mail.text.trimEnd(), MAIL.text.trimEnd());
    await eventually(
      () => lines.some((line) => line.includes('"user_id":"u1"') && line.includes('mail sent')),
      'the line',
    );
    assert.doesNotMatch(lines.join(''), /secret-token|rui@/);
  });

  it('treats an address with a comma as one address, so that a mail never goes to two people', async (t) => {
    const server = await startServer(t);
    const { mailer, lines } = mailerFor(t, server.url);
    mailer.send({ ...MAIL, to: 'one@demo.example, two@demo.example' });
    mailer.send({ ...MAIL, subject: 'Hello\r\nBcc: three@demo.example' });
    await eventually(() => lines.length === 2, 'two lines');
    const sent = server.mails.flatMap(({ to, headers }) => [...to, headers.get('bcc') ?? '']);
    assert.ok(!sent.includes('two@demo.example') && !sent.join().includes('three@demo.example'), sent.join());
  });

  it('a mailer decodes the percent-encoded login of SMTP_URL and signs in with it, over TLS from the start and over STARTTLS', async (t) => {
    const certificate = await makeCertificate();
    trustCertificate(certificate.cert);
    for (const mode of ['implicit', 'starttls'] as const) {
      const server = await startServer(t, { login: LOGIN, tls: { mode, certificate } });
      const { mailer } = mailerFor(t, server.url);
      mailer.send(MAIL);
      const [mail] = await server.waitFor(1);
      assert.deepEqual([mail?.isEncrypted, mail?.user], [true, LOGIN.username], mode);
    }
  });

  it('does not send a mail to a server with a certificate that is not trusted, and logs the reason', async (t) => {
    for (const mode of ['implicit', 'starttls'] as const) {
      const server = await startServer(t, { tls: { mode, certificate: await makeCertificate() } });
      const { mailer, lines } = mailerFor(t, server.url);
      mailer.send(MAIL);
      await eventually(() => lines.length === 1, 'a line');
      assert.match(lines[0] ?? '', /"reason":"the check of its TLS certificate .+NODE_EXTRA_CA_CERTS/);
      assert.deepEqual(server.mails, [], mode);
    }
  });

  it('logs a refused mail, a wrong login and an unreachable server with the reason, and without the address, the link and the password', async (t) => {
    const refusing = await startServer(t, { answer: 'refuse' });
    const login = await startServer(t, { login: LOGIN });
    const urls = [refusing.url, login.url.replace(/:[^:@]+@/, ':hunter2@'), 'smtp://house:hunter2@127.0.0.1:1'];
    const found = [];
    for (const url of urls) {
      const { mailer, lines } = mailerFor(t, url);
      mailer.send(MAIL);
      await eventually(() => lines.length === 1, 'a line');
      const line = lines[0] ?? '';
      assert.match(line, /"level":50/);
      assert.match(line, /a mail could not be sent/);
      assert.doesNotMatch(line, /secret-token|rui@|hunter2/);
      found.push(/"reason":"([^"]+)"/.exec(line)?.[1], /"smtp_status":(\d+)/.exec(line)?.[1]);
    }
    assert.deepEqual(found, ['EMESSAGE', '550', 'EAUTH', '535', 'ESOCKET', undefined]);
  });

  it('keeps at most 100 waiting mails of one tenant, logs each mail that it refuses, and still takes a mail of another tenant', async (t) => {
    const { mailer, lines } = mailerFor(t, await startSilentServer(t, ''));
    for (let count = 0; count < 102; count += 1) {
      mailer.send(MAIL);
    }
    mailer.send({ ...MAIL, tenantId: 2 });
    assert.equal(lines.filter((line) => line.includes('too many mails wait')).length, 2);
  });

  it('close ends after its time limit if the mail server does not respond', async (t) => {
    const { mailer } = mailerFor(t, await startSilentServer(t, '220 hello\r\n'));
    mailer.send(MAIL);
    const startMs = performance.now();
    await mailer.close();
    const tookMs = performance.now() - startMs;
    // The time limit is 300 ms. A timer of Node may fire a millisecond early, so 299 ms are accepted. The default limit is 5 s.
    assert.ok(tookMs >= 299 && tookMs < 4_500, String(tookMs));
  });
});

describe('checkMailServer', () => {
  it('checkMailServer accepts a server that takes the login, refuses a wrong login and a silent server, and sends no mail', async (t) => {
    const server = await startServer(t, { login: LOGIN });
    await checkMailServer(settingsOf(server.url), 5_000);
    await assert.rejects(
      checkMailServer(settingsOf(server.url.replace(/:[^:@]+@/, ':hunter2@')), 5_000),
      (error: Error) => {
        assert.doesNotMatch(error.message, /hunter2/);
        return true;
      },
    );
    await assert.rejects(checkMailServer(settingsOf(await startSilentServer(t, '')), 200), /no response in time/);
    assert.deepEqual(server.mails, []);
  });
});
