import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { createSecureContext, createServer, TLSSocket } from 'node:tls';
import { type Certificate, makeCertificate } from '#test/support/certificate.ts';
import {
  cleanUp,
  newDataDir,
  newFolder,
  refuse,
  runCommand,
  startServing,
  stop,
  succeed,
} from '#test/support/command.ts';
import { connectToDatabase } from '#test/support/database-proxy.ts';
import { envOf, startService, type TestService } from '#test/support/service.ts';
import { startMailServer } from '#test/support/smtp.ts';

const DAY_MS = 86_400_000;

describe('a DATABASE_URL with TLS', () => {
  let service: TestService;
  let folder: string;
  let good: Certificate;
  /** Path of the certificate `good`, which signs itself. */
  let ca: string;

  before(async () => {
    service = await startService();
    folder = await newFolder();
    good = await makeCertificate();
    ca = await fileOf('ca.pem', good.cert);
  });
  after(async () => {
    await cleanUp();
    await service.close();
  });

  async function fileOf(name: string, text: string): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, text);
    return path;
  }

  /**
   * Starts a TLS entrance to the PostgreSQL of the service, which has no TLS of its own. It answers the SSLRequest of the protocol, as
   * PostgreSQL with `ssl = on` does.
   * @param clientCa certificate that a client must have. By default, a client needs no certificate
   * @returns a function that returns the URL of the database through the entrance, with a query such as `sslmode=require`
   */
  async function startEntrance(
    t: TestContext,
    certificate: Certificate,
    clientCa?: string,
  ): Promise<(query: string) => string> {
    const sockets = new Set<Socket>();
    const secureContext = createSecureContext({ ...certificate, ...(clientCa === undefined ? {} : { ca: clientCa }) });
    const asked = { requestCert: clientCa !== undefined, rejectUnauthorized: clientCa !== undefined };
    const server = createTcpServer((client) => {
      sockets.add(client.on('error', () => {}));
      client.once('data', () => {
        client.write('S');
        const tls = new TLSSocket(client, { isServer: true, secureContext, ...asked });
        const database = connectToDatabase(service.database.url);
        sockets.add(database);
        tls.on('error', () => database.destroy()).on('close', () => database.destroy());
        database.on('error', () => tls.destroy()).on('close', () => tls.destroy());
        tls.pipe(database).pipe(tls);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => {
      sockets.forEach((socket) => socket.destroy());
      server.close();
    });
    const through = new URL(service.database.url);
    through.host = `localhost:${(server.address() as AddressInfo).port}`;
    return (query) => {
      through.search = query;
      return through.href;
    };
  }

  const envWith = (url: string) => ({ ...envOf(service), DATABASE_URL: url });

  it('with the authority in sslrootcert, or without a check, serve and tenant list connect, and print no warning of the library', async (t) => {
    const urlWith = await startEntrance(t, good);
    const queries = [`sslmode=verify-full&sslrootcert=${ca}`, `sslmode=require&sslrootcert=${ca}`, 'sslmode=no-verify'];
    for (const query of queries) {
      await succeed(['tenant', 'list'], { env: envWith(urlWith(query)) });
    }
    await stop(await startServing(['--only', 'api'], { env: envWith(urlWith(queries[0] ?? '')) }));
  });

  it('with sslmode=require and a self-signed certificate, commands exit 1 with one line that says what to write in DATABASE_URL', async (t) => {
    const urlWith = await startEntrance(t, good);
    const env = envWith(urlWith('sslmode=require'));
    const message =
      /^roomservice: The database at localhost:\d+ cannot be used, because the check of its TLS certificate or the TLS handshake failed \(self-signed certificate\)\. Check the certificate of the server\. If you trust its authority, write sslmode=verify-full&sslrootcert=\/path\/to\/ca\.pem in DATABASE_URL\.\n$/;
    for (const command of [['tenant', 'list'], ['backup', join(folder, 'new.backup')], ['serve']]) {
      await refuse(command, { env }, message);
    }
    const { code, stdout } = await runCommand(['config', 'check'], { env });
    assert.equal(code, 1);
    assert.match(stdout, /the check of its TLS certificate .+sslrootcert/);
  });

  it('an expired certificate, one for later, one for another host and one that sslrootcert does not name are refused with the reason', async (t) => {
    const [expired, early, ofOther] = await Promise.all([
      makeCertificate({ notBefore: new Date(Date.now() - 2 * DAY_MS), notAfter: new Date(Date.now() - DAY_MS) }),
      makeCertificate({ notBefore: new Date(Date.now() + DAY_MS) }),
      makeCertificate({ hosts: ['db.example'] }),
    ]);
    const messages: [Certificate, RegExp][] = [
      [expired, /TLS certificate .+ failed \(certificate has expired\)\. Check the certificate/],
      [early, /TLS certificate .+ failed \(certificate is not yet valid\)\. Check the certificate/],
      [ofOther, /TLS certificate .+ failed \(.+db\.example\)\. Check the certificate/],
    ];
    for (const [index, [certificate, message]] of messages.entries()) {
      const urlWith = await startEntrance(t, certificate);
      const own = await fileOf(`${index}.pem`, certificate.cert);
      const url = urlWith(`sslmode=verify-full&sslrootcert=${own}`);
      await refuse(['tenant', 'list'], { env: envWith(url) }, message);
    }
    const urlWith = await startEntrance(t, ofOther);
    await refuse(
      ['tenant', 'list'],
      { env: envWith(urlWith(`sslmode=verify-full&sslrootcert=${ca}`)) },
      /failed \(self-signed certificate\)/,
    );
  });

  it('a server without TLS, and one that asks for a client certificate, are refused with the parameter to write', async (t) => {
    const plain = new URL(service.database.url);
    plain.search = 'sslmode=verify-full';
    const noTls =
      /it offers no TLS \(.+\)\. Turn on TLS on the server, or on a network that you trust write sslmode=disable in DATABASE_URL\./;
    await refuse(['tenant', 'list'], { env: envWith(plain.href) }, noTls);

    const client = await makeCertificate();
    const urlWith = await startEntrance(t, good, client.cert);
    const query = `sslmode=verify-full&sslrootcert=${ca}`;
    await refuse(
      ['tenant', 'list'],
      { env: envWith(urlWith(query)) },
      /asks for a client certificate \(.+\)\. Add the paths of its files to DATABASE_URL with sslcert and sslkey/,
    );
    const [cert, key] = [await fileOf('client.pem', client.cert), await fileOf('client.key', client.key)];
    await succeed(['tenant', 'list'], { env: envWith(urlWith(`${query}&sslcert=${cert}&sslkey=${key}`)) });
    const otherKey = await fileOf('other.key', good.key);
    await refuse(
      ['tenant', 'list'],
      { env: envWith(urlWith(`${query}&sslcert=${cert}&sslkey=${otherKey}`)) },
      /TLS handshake failed \(.*key values mismatch\)/,
    );
  });

  it('a wrong sslmode and a missing file are refused before a connection, by commands, config check and move --to', async () => {
    const url = new URL(service.database.url);
    for (const [query, message] of [
      ['sslmode=bogus', /DATABASE_URL must have one of verify-full, .+, disable as sslmode, not "bogus"$/m],
      [
        'sslmode=verify-full&sslrootcert=/nowhere/ca.pem',
        /DATABASE_URL must have .+ as sslrootcert, not "\/nowhere\/ca\.pem" \(ENOENT\)$/m,
      ],
    ] as const) {
      url.search = query;
      await refuse(['tenant', 'list'], { env: envWith(url.href) }, message);
      const { code, stderr } = await runCommand(['config', 'check'], { env: envWith(url.href) });
      assert.equal(code, 1);
      assert.match(stderr, message);
      const moved = await runCommand(['move', '--to', url.href], { env: { DATA_DIR: await newDataDir() } });
      assert.equal(moved.code, 2);
      assert.match(moved.stderr, new RegExp(message.source.replace('DATABASE_URL', 'error: --to'), 'm'));
    }
  });
});

describe('TLS of Redis, of the mail server and of the identity provider', () => {
  after(cleanUp);

  it('config check names the reason and the remedy if a certificate is not trusted, or if Redis or the mail server has no TLS', async (t) => {
    const certificate = await makeCertificate();
    const server = createServer({ ...certificate }).on('tlsClientError', () => {});
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    t.after(() => server.close());
    const { port } = server.address() as AddressInfo;
    const mail = await startMailServer({ tls: { mode: 'starttls', certificate } });
    t.after(() => mail.close());
    const env = {
      DATA_DIR: await newDataDir(),
      MAIL_FROM: 'house@mail.example',
      PUBLIC_URL: 'https://api.example',
      AUTH_ISSUER: 'https://id.example/',
      AUTH_AUDIENCE: 'roomservice',
      AUTH_JWKS_URL: `https://127.0.0.1:${port}/keys`,
      REDIS_URL: `rediss://127.0.0.1:${port}`,
      SMTP_URL: mail.url,
    };
    const untrusted = await runCommand(['config', 'check'], { env });
    assert.equal(untrusted.code, 1);
    for (const subject of ['Redis cannot be used', 'The mail server 127.0.0.1:', 'The keys of the identity provider']) {
      assert.match(
        untrusted.stderr,
        new RegExp(
          `${subject}.*, because the check of its TLS certificate .+ set NODE_EXTRA_CA_CERTS to the path of its certificate\\.`,
        ),
      );
    }
    const { port: smtpPort } = mail;
    const noTls = await runCommand(['config', 'check'], {
      env: { ...env, REDIS_URL: `rediss://127.0.0.1:${smtpPort}`, SMTP_URL: `smtps://127.0.0.1:${smtpPort}` },
    });
    assert.match(noTls.stderr, /Redis cannot be used, because it offers no TLS .+ begin REDIS_URL with redis:/);
    assert.match(noTls.stderr, /The mail server .+, because it offers no TLS .+ begin SMTP_URL with smtp:/);
  });
});
