import { callForJson, jsonCall, mapConcurrently } from './calls.ts';
import { makeTrustedCertificate } from './certificate.ts';
import { type Child, startChild } from './child.ts';
import { BULLMQ, openBullmq } from './contestants/bullmq.ts';
import type { Contestant, Field, Missing } from './contestants/contestant.ts';
import { openFloor } from './contestants/floor.ts';
import { GRAPHILE_WORKER, openGraphileWorker } from './contestants/graphile-worker.ts';
import { openRoomservice } from './contestants/roomservice.ts';
import { installPackages } from './install.ts';
import type { Postgres } from './postgres.ts';
import type { ReceiversAnswer, ReceiversJob } from './receivers.ts';
import { type Caller, openStand } from './stand.ts';

/** Number of receivers, each with its own port. */
const RECEIVERS = 1_000;
/** Number of registrations of webhook URLs that are under way at the same time. */
const REGISTRATIONS = 16;

/** Receivers with one port each, and all senders that send to them. */
export interface QueueStand {
  receivers: Child<ReceiversJob, ReceiversAnswer>;
  contestants: Contestant[];
  missing: Missing[];
}

interface Surroundings {
  resources: AsyncDisposableStack;
  postgres: Postgres;
  /** URL of a database that holds the tenants. The benchmark uses this database only for the comparison of queues. */
  databaseUrl: string;
}

/** Starts the receivers and all compared programs. If a queue library does not start, the comparison leaves it out. */
export async function openQueueStand({ resources, postgres, databaseUrl }: Surroundings): Promise<QueueStand> {
  const { certificate, settings } = await makeTrustedCertificate(resources);
  const receivers = resources.use(startChild<ReceiversJob, ReceiversAnswer>('receivers.ts'));
  const { ports } = await receivers.ask({ open: { count: RECEIVERS, certificate } });
  const origins = ports.map((port) => `https://127.0.0.1:${port}`);
  const { partners, secrets } = await registerWebhooks(postgres, databaseUrl, origins);
  await receivers.ask({ secrets });
  const targets = origins.map((origin, index) => ({ origin, secret: secrets[index] ?? '' }));
  const field: Field = { targets, cert: certificate.cert, resources };
  const roomservice = await openRoomservice(field, {
    databaseUrl,
    databasePid: postgres.pid,
    partners,
    service: { ...settings, MASTER_KEY: postgres.masterKey.toString('base64') },
  });
  const libraries = await openLibraries(field, postgres);
  return {
    receivers,
    contestants: [openFloor(field), roomservice, ...libraries.contestants],
    missing: libraries.missing,
  };
}

/**
 * Registers a webhook URL with its own origin for each partner, through the API. Returns these partners, and their webhook secrets in the
 * same order.
 */
async function registerWebhooks(
  postgres: Postgres,
  databaseUrl: string,
  origins: string[],
): Promise<{ partners: Caller[]; secrets: string[] }> {
  await using stand = await openStand(postgres, databaseUrl);
  const partners = stand.partners.slice(0, origins.length);
  const secrets = await mapConcurrently([...partners.entries()], REGISTRATIONS, async ([index, { headers }]) => {
    const call = jsonCall('/v1/third-party/webhook/', headers, { webhook_url: `${origins[index]}/webhook` });
    const { webhook_secret } = await callForJson<{ webhook_secret: string }>(stand.service.url, call);
    return webhook_secret;
  });
  return { partners, secrets };
}

async function openLibraries(field: Field, postgres: Postgres): Promise<Pick<QueueStand, 'contestants' | 'missing'>> {
  const libraries = {
    [GRAPHILE_WORKER]: () => openGraphileWorker(field, postgres),
    [BULLMQ]: () => openBullmq(field),
  };
  const contestants: Contestant[] = [];
  const missing: Missing[] = [];
  const interruption = new AbortController();
  field.resources.defer(() => interruption.abort());
  const installed = installPackages('queues', interruption.signal);
  for (const [name, openLibrary] of Object.entries(libraries)) {
    try {
      await installed;
      contestants.push(await openLibrary());
    } catch (error) {
      missing.push({ name, reason: `not measured: ${(error as Error).message.split('\n')[0]}` });
    }
  }
  return { contestants, missing };
}
