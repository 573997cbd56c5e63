import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { createApp } from '#service/app.ts';
import { leasesEnded } from '#platform/changes/changes.ts';
import { type Config, readConfig } from '#platform/config.ts';
import { Credentials } from '#access/credentials/credentials.ts';
import type { CredentialSecret } from '#access/credentials/schema.ts';
import { type BudgetStore, createMemoryBudgets } from '#platform/http/rate-limit.ts';
import type { ReaderBounds } from '#platform/http/slow-readers.ts';
import { type Keyring, openKeyring } from '#platform/keys/keys.ts';
import type { TenantDocument } from '#service/tenant-document/schema.ts';
import { type AppliedTenant, applyTenantDocument } from '#service/tenant-document/tenant-document.ts';
import { issueToken } from '#access/tenants/tokens.ts';
import { type DeliveryPace, startWorker } from '#service/worker.ts';
import { assertDocumented } from './openapi-documents.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { sampleTenant } from './tenants.ts';

export interface ServiceOptions {
  config?: Partial<Config>;
  /** Runs the deliveries too, at another pace than the contract's where one is given. */
  worker?: boolean | DeliveryPace;
  budgets?: BudgetStore;
  /** A second node on the database and keys of the first. */
  beside?: TestService;
  readers?: Partial<ReaderBounds>;
  /** Where every log line goes. */
  onLog?: (line: string) => void;
}

/** An answer, read whole. `body` is the parsed JSON, or null where there is none. */
export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every shape
  body: any;
}

export interface CallOptions {
  headers?: Record<string, string>;
  /** Sent as JSON. */
  json?: unknown;
  /** Sent as it is, under the content type that fits its class. */
  body?: string | Buffer | URLSearchParams | FormData;
  /** Gives up: the call then throws. */
  signal?: AbortSignal;
}

export interface TestTenant {
  tenantId: number;
  document: TenantDocument;
  /** Headers of the owner's, a staff member's and a partner's calls. */
  owner: Record<string, string>;
  staff: Record<string, string>;
  partner: Record<string, string>;
  credential: CredentialSecret;
}

export interface TestService {
  url: string;
  database: TestDatabase;
  keyring: Keyring;
  masterKey: Buffer;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** Makes a tenant with users, menu and one credential. */
  tenant(changes?: Partial<TenantDocument>): Promise<TestTenant>;
  /** Applies a tenant document as another process would, and ends when every node acts on it. */
  apply(document: unknown): Promise<AppliedTenant>;
  /** One more credential of the tenant. */
  credential(tenantId: number): Promise<{ credential: CredentialSecret; partner: Record<string, string> }>;
  close(): Promise<void>;
}

/** The whole service on a free port of 127.0.0.1, on a real database of its own. */
export async function startService(options: ServiceOptions = {}): Promise<TestService> {
  const database = options.beside?.database ?? (await createTestDatabase());
  const masterKey = options.beside?.masterKey ?? randomBytes(32);
  const keyring = await openKeyring(database.db, masterKey);
  const config = { ...readConfig({}), webhookAllowPrivateNetwork: true, ...options.config };
  const log = pino({ level: options.onLog ? 'trace' : 'silent' }, { write: options.onLog ?? (() => {}) });
  const pace = typeof options.worker === 'object' ? options.worker : {};
  const worker = options.worker ? startWorker({ config, db: database.db, keyring, log, pace }) : null;
  const budgets = options.budgets ?? createMemoryBudgets();
  const app = await createApp({
    config,
    db: database.db,
    backgroundDb: database.db,
    keyring,
    budgets,
    log,
    deliveries: worker?.deliveries ?? null,
    readers: options.readers,
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const credentials = new Credentials({ db: database.db, keyring, audience: 'third_party' });

  const issue = async (tenantId: number) => {
    const credential = await credentials.create({ tenantId, type: 'operator', id: null }, 'A platform');
    return { credential, partner: { 'x-api-key': credential.api_key, 'x-api-secret': credential.api_secret } };
  };
  return {
    url,
    database,
    keyring,
    masterKey,
    call: (method, path, callOptions) => call(url, method, path, callOptions),
    credential: issue,
    async apply(document) {
      const applied = await applyTenantDocument(database.db, document);
      await leasesEnded();
      return applied;
    },
    async tenant(changes) {
      const document = sampleTenant(changes);
      const { tenant_id: tenantId } = await applyTenantDocument(database.db, document);
      const [owner, staff] = await Promise.all(
        ['owner', 'staff'].map((role) => bearer(database, keyring, tenantId, role)),
      );
      return { tenantId, document, owner: owner ?? {}, staff: staff ?? {}, ...(await issue(tenantId)) };
    },
    async close() {
      await Promise.all([app.close(), worker?.stop(1_000)]);
      await budgets.close();
      if (options.beside === undefined) {
        await database.drop();
      }
    },
  };
}

/** A token as `POST /v1/auth/token/` would issue it, without the cost of a password's hash. */
async function bearer({ db }: TestDatabase, keyring: Keyring, tenantId: number, role: string) {
  const user = await db
    .selectFrom('app_user')
    .select(['id', 'generation'])
    .where('tenant_id', '=', tenantId)
    .where('role', '=', role)
    .executeTakeFirst();
  if (user === undefined) {
    return {};
  }
  const { id: userId, generation } = user;
  return { authorization: `Bearer ${await issueToken(keyring.token, { tenantId, userId, generation })}` };
}

/** One call of the service at an address, in this process or another. What it answers must be as the documents say. */
export async function call(url: string, method: string, path: string, options: CallOptions = {}): Promise<Answer> {
  const answer = await callUnchecked(url, method, path, options);
  assertDocumented(method, path, answer);
  return answer;
}

/** The same, whatever is answered and by whom, such as a balancer on the way. */
export async function callUnchecked(
  url: string,
  method: string,
  path: string,
  options: CallOptions = {},
): Promise<Answer> {
  const { json, body, signal, headers = {} } = options;
  const response = await fetch(url + path, {
    method,
    redirect: 'manual',
    headers: { ...(json === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    ...(body === undefined ? {} : { body }),
    ...(signal === undefined ? {} : { signal }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, body: text === '' ? null : JSON.parse(text) };
}
