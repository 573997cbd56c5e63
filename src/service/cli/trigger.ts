import { pino } from 'pino';
import { NO_CACHES } from '#platform/changes/changes.ts';
import type { Config } from '#platform/config.ts';
import type { Caller } from '#access/credentials/credentials.ts';
import type { Credential } from '#access/credentials/schema.ts';
import type { Database } from '#platform/db/database.ts';
import { OperatorError } from '#platform/errors.ts';
import type { Tenant } from '#access/tenants/tenants.ts';
import { endOfFeed, readFeed } from '#webhooks/events/feed.ts';
import type { EventType, FeedEntry } from '#webhooks/events/events.ts';
import { type Business, createBusiness } from '../business.ts';
import { findDemoTenant } from './demo.ts';
import { openRuntime, type Runtime } from './runtime.ts';
import { print, printJson, showProgress } from './terminal.ts';
import { cause, type House } from './trigger-causes.ts';

/** More than happen to one credential of the demo between two looks. */
const MAX_EVENTS = 200;

/**
 * `roomservice trigger EVENT`: makes a real event on the demo tenant, beside a running service that delivers it.
 * @throws OperatorError where there is no demo tenant, or no active credential of it to make the event for
 */
export async function trigger(
  config: Config,
  event: EventType,
  options: { apiKey: string | null; json?: boolean },
): Promise<void> {
  const runtime = await openRuntime(config, { role: 'command', mayCreate: false, progress: showProgress });
  try {
    const house = openHouse(config, runtime);
    const tenant = await requireDemoTenant(house.db);
    const credential = await chooseCredential(house, tenant, options.apiKey);
    const { delivery, ...entry } = await makeEvent(house, event, callerOf(tenant, credential));
    if (options.json) {
      printJson({ ...entry, delivery, credential: { id: credential.id, api_key: credential.api_key } });
    } else {
      print(describe(entry, credential, delivery !== null));
    }
  } finally {
    await runtime.close();
  }
}

/** Nothing is sent from here: a process that delivers finds the events. */
function openHouse(config: Config, { db, keyring }: Runtime) {
  const log = pino({ level: 'silent' });
  return { db, ...createBusiness({ config, db, keyring, log, caches: NO_CACHES, deliveries: null }) };
}

/** Nothing is made up on a tenant whose kitchen is real. */
async function requireDemoTenant(db: Database): Promise<Tenant> {
  const tenant = await findDemoTenant(db);
  if (tenant === null) {
    throw new OperatorError(
      'There is no demo tenant here, and events are made on it alone. "roomservice demo" makes it.',
    );
  }
  return tenant;
}

async function chooseCredential(
  { credentials }: Pick<Business, 'credentials'>,
  tenant: Tenant,
  apiKey: string | null,
): Promise<Credential> {
  const candidates = apiKey === null ? await credentials.list(tenant.id) : [await credentials.find(tenant.id, apiKey)];
  const chosen = candidates.find((credential) => credential?.is_active);
  if (chosen === undefined) {
    const what = apiKey === null ? 'credential' : `credential with the API key ${apiKey} (lists show keys shortened)`;
    throw new OperatorError(`The demo tenant has no active ${what}. "roomservice demo" issues a new one.`);
  }
  return chosen;
}

function callerOf({ id, features, currency }: Tenant, credential: Credential): Caller {
  return { tenantId: id, credentialId: credential.id, features, currency };
}

/** @returns the event as it stands in the credential's feed */
async function makeEvent(house: House, event: EventType, caller: Caller): Promise<FeedEntry> {
  const before = await endOfFeed(house.db, caller);
  const id = await cause(house, event, caller);
  const { results } = await readFeed(house.db, caller, before, MAX_EVENTS);
  const entry = results.find((each) => each.event === event && Object.values(each.data).includes(id));
  if (entry === undefined) {
    throw new Error(`${event} of ${id} is not in the feed`);
  }
  return entry;
}

function describe(entry: Omit<FeedEntry, 'delivery'>, credential: Credential, hasDelivery: boolean): string {
  const { status, ...ids } = entry.data;
  const named = Object.entries({ event_id: entry.event_id, ...ids }).map(([name, value]) => `  ${name}  ${value}`);
  const sent = hasDelivery
    ? `It is sent to ${credential.webhook_url}.`
    : 'It is sent nowhere: no webhook is registered.';
  return [
    `${entry.event}: ${status}`,
    ...named,
    `of the credential ${credential.api_key}. ${sent}`,
    '"roomservice listen" with that credential shows it, and so does GET /v1/third-party/events/.',
  ].join('\n');
}
