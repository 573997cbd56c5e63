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
import { cause, type TriggerParts } from './trigger-causes.ts';

/**
 * Maximum number of events that the command reads from the feed to find its new event. The read starts where the feed ended before the new
 * event. A demo credential gets fewer than 200 other events while the command runs.
 */
const MAX_EVENTS = 200;

/**
 * Runs `roomservice trigger EVENT`: makes a real event for the demo tenant. A running service then delivers the event.
 * @throws OperatorError if the demo tenant is missing or has no active credential
 */
export async function trigger(
  config: Config,
  event: EventType,
  options: { apiKey: string | null; json?: boolean },
): Promise<void> {
  const runtime = await openRuntime(config, { role: 'command', progress: showProgress });
  try {
    const parts = createParts(runtime);
    const tenant = await requireDemoTenant(parts.db);
    const credential = await chooseCredential(parts, tenant, options.apiKey);
    const entry = await makeEvent(parts, event, callerOf(tenant, credential));
    if (options.json) {
      printJson(entry);
    } else {
      print(describe(entry, credential));
    }
  } finally {
    await runtime.close();
  }
}

/** Creates the business functions. They store new events but do not send them, because a running service finds and sends the events. */
function createParts({ db, keyring }: Runtime) {
  return { db, ...createBusiness({ db, keyring, caches: NO_CACHES, deliveries: null }) };
}

/**
 * Finds the demo tenant. This command never makes an event for another tenant, because other tenants have a real kitchen and front desk.
 */
async function requireDemoTenant(db: Database): Promise<Tenant> {
  const tenant = await findDemoTenant(db);
  if (tenant === null) {
    throw new OperatorError(
      'The database has no demo tenant, and this command makes events only for the demo tenant. "roomservice demo" creates it.',
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
    const what = apiKey === null ? 'credential' : `credential with the API key ${apiKey}`;
    const hint = apiKey === null ? '' : ' Give the full API key, because lists show only a part of each key.';
    throw new OperatorError(
      `The demo tenant has no active ${what}.${hint} "roomservice demo" issues a new credential.`,
    );
  }
  return chosen;
}

function callerOf({ id, features, currency }: Tenant, credential: Credential): Caller {
  return { tenantId: id, credentialId: credential.id, features, currency };
}

/** Causes an event, and reads it from the feed of the credential. @returns the entry of the feed */
async function makeEvent(parts: TriggerParts, event: EventType, caller: Caller): Promise<FeedEntry> {
  const before = await endOfFeed(parts.db, caller);
  const id = await cause(parts, event, caller);
  const { results } = await readFeed(parts.db, caller, before, MAX_EVENTS);
  const entry = results.find((each) => each.event === event && Object.values(each.data).includes(id));
  if (entry === undefined) {
    throw new Error(
      `The command made the event ${event} of ${id}, but did not find it among the next ${MAX_EVENTS} events of the credential ` +
        `${caller.credentialId}. Read the feed of this credential with GET /v1/third-party/events/.`,
    );
  }
  return entry;
}

function describe(entry: FeedEntry, credential: Credential): string {
  const { status, ...ids } = entry.data;
  const named = Object.entries({ event_id: entry.event_id, ...ids }).map(([name, value]) => `  ${name}  ${value}`);
  const sent =
    entry.delivery === null
      ? 'It is not sent, because no webhook is registered.'
      : `It is sent to ${credential.webhook_url}.`;
  return [
    `${entry.event}: ${status}`,
    ...named,
    `The event belongs to the credential ${credential.api_key}. ${sent}`,
    'Read it with "roomservice listen" and that credential, or with GET /v1/third-party/events/.',
  ].join('\n');
}
