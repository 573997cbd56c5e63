import type { Logger } from 'pino';
import { type Actor, prepareAudit } from '#access/audit/audit.ts';
import { readCredentialRow, webhookSecretLocation } from '#access/credentials/credentials.ts';
import type { Database } from '#platform/db/database.ts';
import { inTransaction } from '#platform/db/transaction.ts';
import { apiError } from '#platform/errors.ts';
import type { Keyring } from '#platform/keys/keys.ts';
import { Gate } from '#platform/lib/gate.ts';
import { newId } from '#platform/lib/ids.ts';
import { WebhookSender, type WebhookSenderOptions } from './attempt.ts';
import type { TestCallOutcome } from './schema.ts';

/** Maximum number of test calls under way at the same time in this process, and for one tenant. */
const MAX_UNDER_WAY = 16;
const MAX_OF_TENANT = 4;
const MAX_WAIT_MS = 1_000;
/** Seconds after which every test call that is under way has ended. */
const RETRY_AFTER_SECONDS = 10;

type TestReceiver = Awaited<ReturnType<TestCalls['findReceiver']>>;

export interface TestCallOptions {
  db: Database;
  keyring: Keyring;
  headerBrand: string;
  log: Logger;
  allowPrivateNetwork: boolean;
  stopping?: AbortSignal | undefined;
  /** Overrides options of the sender. Used by tests. */
  sending?: Pick<WebhookSenderOptions, 'timeoutMs' | 'keepAnswers'> | undefined;
}

/** Sends test calls to webhooks (rule 42). A test call is signed and sent like a delivery, but it is no event, and is sent once. */
export class TestCalls {
  readonly #options: TestCallOptions;
  readonly #sender: WebhookSender;
  readonly #gate = new Gate({
    places: MAX_UNDER_WAY,
    placesOfKey: MAX_OF_TENANT,
    maxWaitMs: MAX_WAIT_MS,
    refusal: () =>
      apiError('rate_limited', `Too many test calls are under way. Try again in ${RETRY_AFTER_SECONDS} s.`, {
        'retry-after': String(RETRY_AFTER_SECONDS),
      }),
  });

  constructor(options: TestCallOptions) {
    const { allowPrivateNetwork, headerBrand, stopping, sending } = options;
    this.#options = options;
    this.#sender = new WebhookSender({ allowPrivateNetwork, headerBrand, ...sending });
    stopping?.addEventListener('abort', () => void this.close(), { once: true });
  }

  /**
   * @throws ApiError 404 if the tenant has no such credential
   * @throws ApiError 409 if the credential is revoked or has no webhook. The credential of a PMS never has a webhook
   */
  async findReceiver(tenantId: number, id: string) {
    const row = await readCredentialRow(this.#options.db, tenantId, id);
    if (row.audience === 'pms') {
      throw apiError('invalid_status_transition', 'The credential belongs to a PMS, and a PMS has no webhook.');
    }
    if (!row.is_active) {
      throw apiError('invalid_status_transition', 'The credential is revoked, so its webhook gets no calls.');
    }
    const { webhook_url: webhookUrl, webhook_secret: webhookSecret } = row;
    if (webhookSecret === null) {
      throw apiError('invalid_status_transition', 'The credential has no webhook. Register a webhook URL first.');
    }
    return { tenantId, credentialId: row.id, webhookUrl, webhookSecret };
  }

  /**
   * Writes an entry for the test call to the audit trail, then sends the test call.
   * @throws ApiError 429 `rate_limited` if too many test calls of the tenant or of this process are under way
   */
  async send(actor: Actor, receiver: TestReceiver): Promise<TestCallOutcome> {
    return await this.#gate.run(String(receiver.tenantId), async () => {
      const { db, keyring, log } = this.#options;
      const { tenantId, credentialId, webhookUrl, webhookSecret } = receiver;
      const eventId = newId();
      const writeDown = prepareAudit(actor);
      await inTransaction(db, async (tx) => {
        const details = { webhook_url: webhookUrl, event_id: eventId };
        await writeDown(tx, { action: 'webhook.tested', subject: credentialId, details });
      });
      const body = JSON.stringify({ test: true, event_id: eventId, occurred_at: new Date().toISOString() });
      const secret = () => keyring.decrypt(webhookSecret, webhookSecretLocation(tenantId, credentialId));
      const sent = await this.#sender.attempt({ webhookUrl, eventId, body, secret });
      if (sent.cause !== undefined) {
        log.error({ err: sent.cause, tenant_id: tenantId, event_id: eventId }, 'test call failed');
      }
      return { http_status: sent.httpStatus, duration_ms: sent.durationMs, error: sent.error, answer: sent.answer };
    });
  }

  async close(): Promise<void> {
    await this.#sender.close();
  }
}
