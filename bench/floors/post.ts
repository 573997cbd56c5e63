// Floor (baseline without the service) of deliveries: the HTTP client undici posts the same body repeatedly over persistent connections.
// It uses as many connections as the service may use for one receiver. Each connection has one POST at a time, as in the service
// (src/webhooks/deliveries/attempt.ts).
import { Client } from 'undici';
import { answerJobs } from '../child.ts';
import type { Slice } from '../load-worker.ts';
import { closedLoop } from './closed-loop.ts';

export interface PostJob {
  url: string;
  cert: string;
  connections: number;
  seconds: number;
  headers: Record<string, string>;
  body: string;
}

answerJobs(async ({ url, cert, connections, seconds, headers, body }: PostJob): Promise<Slice> => {
  const { origin, pathname: path } = new URL(url);
  const clients = Array.from({ length: connections }, () => new Client(origin, { connect: { ca: cert } }));
  const slice = await closedLoop({ lanes: connections, seconds }, async (lane) => {
    const answer = await clients[lane]?.request({ path, method: 'POST', headers, body });
    await answer?.body.dump();
    if (answer?.statusCode !== 204) {
      throw new Error(`The receiver responded with ${answer?.statusCode} instead of 204.`);
    }
  });
  await Promise.all(clients.map((client) => client.close()));
  return slice;
});
