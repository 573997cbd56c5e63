import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import type { Certificate } from './certificate.ts';
import { eventually } from './webhooks.ts';

/** A mail that the server has accepted. */
interface ReceivedMail {
  /** Sender in the SMTP envelope of the mail. `to` has the recipients. */
  from: string;
  to: string[];
  /** Header fields with their names in lower case. */
  headers: Map<string, string>;
  text: string;
  isEncrypted: boolean;
  /** User name with which the client has signed in, or null if the client has not signed in. */
  user: string | null;
}

export interface MailServerOptions {
  /** User name and password that the server asks for. By default, it asks for no login. */
  login?: { username: string; password: string };
  /** With `starttls`, the connection begins without TLS. By default, the server has none. */
  tls?: { mode: 'implicit' | 'starttls'; certificate: Certificate };
  /** Reaction to each mail. By default, the server accepts the mail. `hang` sends no response. */
  answer?: 'accept' | 'refuse' | 'hang';
}

export interface MailServer {
  readonly port: number;
  /** Value for SMTP_URL, with the user name and password of `login`. */
  readonly url: string;
  readonly mails: readonly ReceivedMail[];
  /** Waits until `count` mails have arrived, and returns all mails. */
  waitFor(count: number): Promise<readonly ReceivedMail[]>;
  close(): Promise<void>;
}

/** Starts a mail server (SMTP) on a free port of 127.0.0.1. */
export async function startMailServer(options: MailServerOptions = {}): Promise<MailServer> {
  const { login, tls, answer = 'accept' } = options;
  const mails: ReceivedMail[] = [];
  const server = new SMTPServer({
    ...tlsOptions(tls),
    authOptional: login === undefined,
    allowInsecureAuth: true,
    closeTimeout: 100,
    onAuth({ username, password }, _session, done) {
      const isRight = username === login?.username && password === login?.password;
      done(isRight ? null : new Error('wrong login'), isRight ? { user: username } : undefined);
    },
    onData(stream, session, done) {
      const answerTo = (raw: string) => {
        if (answer === 'hang') {
          return;
        }
        if (answer === 'refuse') {
          done(Object.assign(new Error('mailbox unavailable'), { responseCode: 550 }));
          return;
        }
        const { mailFrom, rcptTo } = session.envelope;
        mails.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          ...read(raw),
          isEncrypted: session.secure,
          user: (session.user as string | undefined) ?? null,
        });
        done();
      };
      text(stream).then(answerTo, () => {}); // The client may leave in the middle of a mail.
    },
  });
  const sockets = new Set<Socket>();
  server.server.on('connection', (socket: Socket) => sockets.add(socket));
  server.on('error', () => {}); // A client that breaks its connection must not end the tests.
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  const { port } = server.server.address() as AddressInfo;
  const account =
    login === undefined ? '' : `${encodeURIComponent(login.username)}:${encodeURIComponent(login.password)}@`;
  return {
    port,
    url: `${tls?.mode === 'implicit' ? 'smtps' : 'smtp'}://${account}127.0.0.1:${port}`,
    mails,
    async waitFor(count) {
      await eventually(() => mails.length >= count, `${count} mails`);
      return mails;
    },
    async close() {
      sockets.forEach((socket) => socket.destroy());
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function tlsOptions(tls: MailServerOptions['tls']): SMTPServerOptions {
  return tls === undefined
    ? { disabledCommands: ['STARTTLS'] }
    : { ...tls.certificate, secure: tls.mode === 'implicit' };
}

/** Reads the header fields and the decoded text of a mail. The mail must have only one part. */
function read(raw: string): { headers: Map<string, string>; text: string } {
  const end = raw.indexOf('\r\n\r\n');
  const fields = raw.slice(0, end).replace(/\r\n[ \t]+/g, ' ');
  const headers = new Map(
    fields.split('\r\n').map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  const body = raw.slice(end + 4);
  const isQuoted = headers.get('content-transfer-encoding') === 'quoted-printable';
  return { headers, text: (isQuoted ? unquoted(body) : body).replaceAll('\r\n', '\n') };
}

/** Decodes quoted-printable text (RFC 2045 §6.7). */
function unquoted(body: string): string {
  const bytes = body
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}
