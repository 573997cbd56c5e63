import type { Certificate } from '../test/support/certificate.ts';
import { freePort } from '../test/support/free-port.ts';
import { callOnce, jsonCall } from './calls.ts';
import { makeTrustedCertificate } from './certificate.ts';
import { type Child, startChild } from './child.ts';
import { type OwnerOf, ownersOf } from './owners.ts';
import type { ReceiverAnswer, ReceiverJob } from './receiver.ts';
import type { Caller, Stand } from './stand.ts';

/** Number of partners whose receiver accepts deliveries. */
const HEALTHY = 95;
/** Number of partners whose webhook URL has a closed port, so that connections to it are refused. */
const REFUSING = 5;

/** Partner with a registered webhook URL. */
export interface Subscriber extends Caller {
  webhookUrl: string;
}

/** A running service, and the receivers to which it sends deliveries. */
export interface DeliveryStand {
  stand: Stand;
  receiver: Child<ReceiverJob, ReceiverAnswer>;
  receiverUrl: string;
  certificate: Certificate;
  healthy: Subscriber[];
  refusing: Subscriber[];
  /** Registers a new webhook URL for each given partner. The URL leads to the receiver, and its path begins with `path`. */
  redirect: (subscribers: Subscriber[], path: string) => Promise<void>;
  ownerOf: OwnerOf;
}

interface Surroundings {
  resources: AsyncDisposableStack;
  masterKey: Buffer;
  /** Starts the service on a database that no other operation uses. */
  openStand: (settings: Record<string, string>) => Promise<Stand>;
}

/**
 * Starts the receiver and the service, and registers a webhook URL for each partner. The service has a database that no other operation
 * uses. In a shared database, each event of another operation would cause a delivery to these webhooks. Such deliveries would slow down
 * that other operation.
 */
export async function openDeliveryStand({ resources, masterKey, openStand }: Surroundings): Promise<DeliveryStand> {
  const { certificate, settings } = await makeTrustedCertificate(resources);
  const receiver = resources.use(startChild<ReceiverJob, ReceiverAnswer>('receiver.ts'));
  const { port } = await receiver.ask({ certificate });
  const stand = await openStand(settings);
  const closedPort = await freePort();
  const receiverUrl = `https://127.0.0.1:${port}`;
  const subscribe = async (callers: Caller[], base: string) => {
    const subscribers = callers.map((caller, index) => ({ ...caller, webhookUrl: `${base}/${index}` }));
    for (const { headers, webhookUrl } of subscribers) {
      await callOnce(stand.service.url, jsonCall('/v1/third-party/webhook/', headers, { webhook_url: webhookUrl }));
    }
    return subscribers;
  };
  return {
    stand,
    receiver,
    receiverUrl,
    certificate,
    healthy: await subscribe(stand.partners.slice(0, HEALTHY), `${receiverUrl}/well`),
    refusing: await subscribe(
      stand.partners.slice(HEALTHY, HEALTHY + REFUSING),
      `https://127.0.0.1:${closedPort}/gone`,
    ),
    redirect: async (subscribers, path) => void (await subscribe(subscribers, receiverUrl + path)),
    ownerOf: await ownersOf(masterKey, stand),
  };
}
