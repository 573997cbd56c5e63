import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { createApp } from '#service/app.ts';
import type { AppDependencies } from '#service/parts.ts';
import { waitForLeasesToEnd } from '#platform/changes/changes.ts';
import { type Config, readConfig } from '#platform/config.ts';
import type { Layout } from '#platform/db/database.ts';
import { Credentials } from '#access/credentials/credentials.ts';
import type { CredentialSecret } from '#access/credentials/schema.ts';
import { type BudgetStore, createMemoryBudgets } from '#platform/http/rate-limit.ts';
import { type Keyring, openKeyring } from '#platform/keys/keys.ts';
import type { TenantDocument } from '#service/tenant-document/schema.ts';
import { passwordCost } from '#access/tenants/passwords.ts';
import { type AppliedTenant, applyTenantDocument } from '#service/tenant-document/tenant-document.ts';
import { issueToken } from '#access/tenants/tokens.ts';
import { type DeliveryPace, startWorker } from '#service/worker.ts';
import type { StreamBounds } from '#staff/live-changes/stream.ts';
import type { TestCallOptions } from '#webhooks/deliveries/test-call.ts';
import { type Answer, type CallOptions, callUnchecked } from './http.ts';
import { assertDocumented } from './openapi-documents.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { openServiceDatabase, type ServiceDatabase } from '../suites/routing/service-database.ts';
import { sampleTenant } from './tenants.ts';

export interface ServiceOptions {
  config?: Partial<Config>;
  /** Also runs a worker, by default with the times of the contract. */
  worker?: boolean | DeliveryPace;
  budgets?: BudgetStore;
  /** Service that already runs. If it is given, the new service uses the same database and keys, as a second process would. */
  beside?: TestService;
  /** Database of the service, which `close` drops. By default, the service makes a database of its own. */
  database?: TestDatabase;
  /** Layout (`cluster` or `one node`) for which the service writes its statements. By default, it is the layout of the database. */
  layout?: Layout;
  streams?: Partial<StreamBounds>;
  testCalls?: TestCallOptions['sending'];
  /** Finds the tenant whose guests are simulated, as in `serve --demo`. By default, no guests are simulated. */
  findDemo?: NonNullable<AppDependencies['findDemo']>;
  /** Signal that tells the service that its process begins to stop. */
  stopping?: AbortSignal;
  onLog?: (line: string) => void;
}

export interface TestTenant {
  tenantId: number;
  document: TenantDocument;
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
  /** Statements of the service, by their texts. Empty if its connections are not from `createTestDatabase`. */
  statements: ServiceDatabase['statements'];
  assertRoutable: ServiceDatabase['assertRoutable'];
  /** Lowest id that a tenant of this test file can have. Tenants with lower ids belong to other files that share the database. */
  firstTenantId: number;
  call(method: string, path: string, options?: CallOptions): Promise<Answer>;
  tenant(changes?: Partial<TenantDocument>): Promise<TestTenant>;
  /** Applies a tenant document as another process does, and waits until no cache returns the earlier data. */
  apply(document: unknown): Promise<AppliedTenant>;
  /** Makes a third-party credential of the tenant. `partner` has the headers that authenticate calls with it. */
  credential(tenantId: number): Promise<{ credential: CredentialSecret; partner: Record<string, string> }>;
  close(): Promise<void>;
}

// Thousands of hashes of the usual cost would take most of the processor time of the tests.
Object.assign(passwordCost, { memory: 64, passes: 1 });

/** Starts the service in this process, on a free port of 127.0.0.1. By default, it has a database of its own. */
export async function startService(options: ServiceOptions = {}): Promise<TestService> {
  const database = options.beside?.database ?? options.database ?? (await createTestDatabase());
  const { db, statements, assertRoutable, close: closeDatabase } = await openServiceDatabase(database, options.layout);
  const masterKey = options.beside?.masterKey ?? randomBytes(32);
  const keyring = await openKeyring(db, masterKey);
  const config = { ...readConfig({}), webhookAllowPrivateNetwork: true, ...options.config };
  const log = pino({ level: options.onLog ? 'trace' : 'silent' }, { write: options.onLog ?? (() => {}) });
  const pace = typeof options.worker === 'object' ? options.worker : {};
  const worker = options.worker ? startWorker({ config, db, keyring, log, pace }) : null;
  const budgets = options.budgets ?? createMemoryBudgets();
  const wake = worker?.wake ?? null;
  const app = await createApp({ ...options, config, db, backgroundDb: db, keyring, budgets, log, wake });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const credentials = new Credentials({ db, keyring, audience: 'third_party' });

  const issue = async (tenantId: number) => {
    const credential = await credentials.create({ tenantId, type: 'operator', id: null }, 'A platform');
    return { credential, partner: { 'x-api-key': credential.api_key, 'x-api-secret': credential.api_secret } };
  };
  return {
    url,
    database,
    keyring,
    masterKey,
    statements,
    assertRoutable,
    firstTenantId: options.beside?.firstTenantId ?? 0,
    call: (method, path, callOptions) => call(url, method, path, callOptions),
    credential: issue,
    async apply(document) {
      const applied = await applyTenantDocument(db, document);
      await waitForLeasesToEnd();
      return applied;
    },
    async tenant(changes) {
      const document = sampleTenant(changes);
      const { tenant_id: tenantId } = await applyTenantDocument(db, document);
      // The two tokens are made one after the other, so that both use the same connection. PostgreSQL needs 5 to 30 ms for a new
      // connection.
      const owner = await bearer(database, keyring, tenantId, 'owner');
      const staff = await bearer(database, keyring, tenantId, 'staff');
      return { tenantId, document, owner, staff, ...(await issue(tenantId)) };
    },
    async close() {
      // If no request has come on a connection, Node does not count it as idle. Such a connection would delay `app.close()` by 60 s, so the
      // timer cuts it.
      const cut = setTimeout(() => app.server.closeAllConnections(), 1_000);
      await Promise.all([app.close(), worker?.stop(1_000)]);
      clearTimeout(cut);
      await budgets.close();
      try {
        await closeDatabase();
      } finally {
        if (options.beside === undefined) {
          await database.drop();
        }
      }
    },
  };
}

/** Makes a token like that of `POST /v1/auth/token/`, but checks no password, because this would take long. */
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

/** Calls the service at a URL, and asserts that the response is as the OpenAPI documents describe it. */
export async function call(url: string, method: string, path: string, options: CallOptions = {}): Promise<Answer> {
  const answer = await callUnchecked(url, method, path, options);
  assertDocumented(method, path, answer);
  return answer;
}

export function envOf({ database, masterKey }: Pick<TestService, 'database' | 'masterKey'>) {
  return { DATABASE_URL: database.url, MASTER_KEY: masterKey.toString('base64') };
}
