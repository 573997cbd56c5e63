import pg from 'pg';
import { clientConfig, type Limits, settleConnection } from './session.ts';

/** Makes a client of pg outside of the pools, with the settings of the service (`clientConfig`). Does not connect it. */
export function newClient(url: string, config: pg.ClientConfig & Limits): pg.Client {
  const client = new pg.Client({ ...config, ...clientConfig(url, config) });
  client.once('connect', () => settleConnection(client, url));
  return client;
}
