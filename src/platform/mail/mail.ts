import type { Logger } from 'pino';
import type { MailSettings } from '../config.ts';
import { inTime } from '../lib/in-time.ts';
import { choicesOfNode, describeTlsFault } from '../lib/tls-faults.ts';
import { openTransport, type Transport } from './transport.ts';

/** Largest number of mails of all tenants together that wait or are being sent. A further mail is not sent. */
const MAX_MAILS = 1_000;
/** Largest number of mails of one tenant that wait or are being sent. A further mail is not sent. */
const MAX_MAILS_OF_TENANT = 100;
/** Default time limit of `close` in milliseconds. */
const CLOSE_LIMIT_MS = 5_000;

/** Mail of a tenant to one person. */
export interface Mail {
  tenantId: number;
  /** Address of the person. */
  to: string;
  subject: string;
  text: string;
  /**
   * Fields that each log line about the mail contains. They identify the mail, but do not contain the address of the person, the text or a
   * link.
   */
  logged: Readonly<Record<string, unknown>>;
}

/** Sends mails in the background. */
export interface Mailer {
  /** Tries to send a mail once, in the background. Never throws. If the mail cannot be sent, the log says why. */
  send(mail: Mail): void;
  /** Waits until the mails under way are sent, but not longer than a time limit. Then closes all connections to the mail server. */
  close(): Promise<void>;
}

/**
 * Creates a mailer. It connects to the mail server when it sends the first mail, and loads the code of the mail library only then.
 * @param closeLimitMs time limit of `close`. Tests shorten it.
 */
export function createMailer(settings: MailSettings, log: Logger, closeLimitMs = CLOSE_LIMIT_MS): Mailer {
  const underWay = new Map<Promise<void>, Mail>();
  let transport: Promise<Transport> | undefined;
  const deliver = async (mail: Mail) => {
    try {
      transport ??= openTransport(settings);
      await (await transport).send(mail);
      log.info(mail.logged, 'mail sent');
    } catch (error) {
      log.error({ ...mail.logged, ...reasonOf(error) }, 'a mail could not be sent');
    }
  };
  return {
    send(mail) {
      const ofTenant = [...underWay.values()].filter(({ tenantId }) => tenantId === mail.tenantId);
      if (underWay.size >= MAX_MAILS || ofTenant.length >= MAX_MAILS_OF_TENANT) {
        log.error(mail.logged, 'a mail was not sent, because too many mails wait for the mail server');
        return;
      }
      const sending = deliver(mail).finally(() => underWay.delete(sending));
      underWay.set(sending, mail);
    },
    async close() {
      await inTime(closeLimitMs, () => Promise.all(underWay.keys())).catch(() => {});
      (await transport)?.close();
    },
  };
}

/**
 * Connects and signs in to the mail server, and sends no mail.
 * @param limitMs time limit of the whole check in milliseconds
 * @throws Error with the reason if the server is out of reach, refuses the login or does not respond in time
 */
export async function checkMailServer(settings: MailSettings, limitMs: number): Promise<void> {
  const transport = await openTransport(settings);
  try {
    await inTime(limitMs, () => transport.check());
  } finally {
    transport.close();
  }
}

/**
 * Returns the reason of a failure for the log: the problem if TLS has caused the failure, or else the error code of the mail library or of
 * the operating system, or else the error message.
 * Also returns the status of the response if the mail server has sent a response. The text of the response is left out, because it may
 * repeat parts of the mail.
 */
function reasonOf(error: unknown): { reason: string; smtp_status?: number } {
  const { code, message, responseCode } = error as { code?: string; message: string; responseCode?: number };
  const status = responseCode === undefined ? {} : { smtp_status: responseCode };
  const tls = describeTlsFault(error, choicesOfNode('SMTP_URL', 'smtp'));
  return { reason: tls === null ? (code ?? message) : `${tls.problem}. ${tls.remedy}`, ...status };
}
