import { createSecureContext } from 'node:tls';
import { Agent } from 'undici';
import { deliveryHeaders } from '#webhooks/deliveries/signature.ts';

/** Receiver of deliveries with its own port, and the secret that signs its deliveries. */
export interface Target {
  origin: string;
  secret: string;
}

export interface Post {
  /** Index of the receiver in the list of targets. */
  target: number;
  eventId: string;
  body: string;
}

/** Maximum number of connections to one receiver. */
const CONNECTIONS = 64;

/**
 * Returns a function that signs and posts one event with undici, over persistent connections. The floor and the other queue libraries use
 * it. The function throws an Error if the response is not a 204, so that the library retries the job.
 */
export function createPoster(targets: Target[], cert: string): (post: Post) => Promise<void> {
  // All connections share one TLS context, because a context for each connection would cost more time than the rest of a handshake.
  const agent = new Agent({ connections: CONNECTIONS, connect: { secureContext: createSecureContext({ ca: cert }) } });
  return async ({ target, eventId, body }) => {
    const { origin = '', secret = '' } = targets[target] ?? {};
    const timestampSeconds = Math.floor(Date.now() / 1000);
    const headers = {
      'content-type': 'application/json',
      ...deliveryHeaders('Service', { secret, eventId, timestampSeconds, body }),
    };
    const answer = await agent.request({ origin, path: '/webhook', method: 'POST', headers, body });
    await answer.body.dump();
    if (answer.statusCode !== 204) {
      throw new Error(`The receiver responded with ${answer.statusCode} instead of 204.`);
    }
  };
}
