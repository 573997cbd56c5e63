import type { MailSettings } from '../config.ts';

/** Number of connections that one process opens to the mail server. Further mails wait in the queue of the library. */
const CONNECTIONS = 2;
const CONNECT_MS = 10_000;
const GREETING_MS = 10_000;
const SILENCE_MS = 20_000;

export interface Transport {
  send(mail: { to: string; subject: string; text: string }): Promise<void>;
  check(): Promise<void>;
  close(): void;
}

/** Loads the mail library, and prepares its connections to the mail server. Does not connect yet. */
export async function openTransport({ server, sender }: MailSettings): Promise<Transport> {
  const { createTransport } = await import('nodemailer');
  const { host, port, isEncrypted, login } = server;
  const transport = createTransport({
    pool: true,
    maxConnections: CONNECTIONS,
    host,
    port,
    secure: isEncrypted,
    ...(login === null ? {} : { auth: { user: login.username, pass: login.password } }),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: GREETING_MS,
    socketTimeout: SILENCE_MS,
    // By default the library can fill a mail with the content of files and URLs. Mails here have only a text, so both are disabled.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return {
    async send({ to, subject, text }) {
      // The recipient is an object, because the library would read a text as a list of several addresses.
      await transport.sendMail({ from: sender, to: { name: '', address: to }, subject, text });
    },
    async check() {
      await transport.verify();
    },
    close: () => transport.close(),
  };
}
