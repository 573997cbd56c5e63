/** Sends mails in the background. The only room that uses SMTP. */
import type { Logger } from 'pino';
import type { MailSettings } from '../config.ts';
import { inTime } from '../lib/in-time.ts';
import { choicesOfNode, describeTlsFault } from '../lib/tls-faults.ts';

const MAX_MAILS = 1_000;
const MAX_MAILS_OF_TENANT = 100;
const CLOSE_LIMIT_MS = 5_000;
/** Number of connections that one process opens to the mail server. Further mails wait in the queue of the library. */
const CONNECTIONS = 2;
const CONNECT_MS = 10_000;
const SILENCE_MS = 20_000;

export interface Mail {
  tenantId: number;
  to: string;
  subject: string;
  text: string;
  /** Fields of each log line. They identify the mail, but do not contain the address, the text or a link. */
  logged: Readonly<Record<string, unknown>>;
}

export type Mailer = ReturnType<typeof createMailer>;

/** Creates a mailer. It loads the mail library and connects when it sends the first mail. */
export function createMailer(settings: MailSettings, log: Logger, closeLimitMs = CLOSE_LIMIT_MS) {
  const underWay = new Map<Promise<void>, Mail>();
  let transport: ReturnType<typeof openTransport> | undefined;
  const deliver = async (mail: Mail) => {
    try {
      transport ??= openTransport(settings);
      const { to, subject, text } = mail;
      // The recipient is an object, because the library would read a text as a list of several addresses.
      await (await transport).sendMail({ from: settings.sender, to: { name: '', address: to }, subject, text });
      log.info(mail.logged, 'mail sent');
    } catch (error) {
      log.error({ ...mail.logged, ...reasonOf(error) }, 'a mail could not be sent');
    }
  };
  return {
    /** Tries to send a mail once, in the background. Never throws. If the mail cannot be sent, the log says why. */
    send(mail: Mail): void {
      const ofTenant = [...underWay.values()].filter(({ tenantId }) => tenantId === mail.tenantId);
      if (underWay.size >= MAX_MAILS || ofTenant.length >= MAX_MAILS_OF_TENANT) {
        log.error(mail.logged, 'a mail was not sent, because too many mails wait for the mail server');
        return;
      }
      const sending = deliver(mail).finally(() => underWay.delete(sending));
      underWay.set(sending, mail);
    },
    async close(): Promise<void> {
      await inTime(closeLimitMs, () => Promise.all(underWay.keys())).catch(() => {});
      (await transport)?.close();
    },
  };
}

/** Connects and signs in to the mail server within `limitMs`, and sends no mail. @throws Error with the reason */
export async function checkMailServer(settings: MailSettings, limitMs: number): Promise<void> {
  const transport = await openTransport(settings);
  try {
    await inTime(limitMs, () => transport.verify());
  } finally {
    transport.close();
  }
}

async function openTransport({ server: { host, port, isEncrypted, login } }: MailSettings) {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    pool: true,
    maxConnections: CONNECTIONS,
    host,
    port,
    secure: isEncrypted,
    ...(login === null ? {} : { auth: { user: login.username, pass: login.password } }),
    connectionTimeout: CONNECT_MS,
    greetingTimeout: CONNECT_MS,
    socketTimeout: SILENCE_MS,
    // By default the library can fill a mail with the content of files and URLs. Mails here have only a text, so both are disabled.
    disableFileAccess: true,
    disableUrlAccess: true,
  });
}

/** The text of the server's response is left out, because it may repeat parts of the mail. */
function reasonOf(error: unknown): { reason: string; smtp_status?: number } {
  const { code, message, responseCode } = error as { code?: string; message: string; responseCode?: number };
  const status = responseCode === undefined ? {} : { smtp_status: responseCode };
  const tls = describeTlsFault(error, choicesOfNode('SMTP_URL', 'smtp'));
  return { reason: tls === null ? (code ?? message) : `${tls.problem}. ${tls.remedy}`, ...status };
}
