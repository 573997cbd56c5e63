import pg from 'pg';
import { readPooling } from './pooling.ts';
import { clientConfig, type Limits } from './session.ts';

/** Makes a client of pg outside of the pools, with the settings of the service (`clientConfig`). Does not connect it. */
export async function newClient(url: string, config: pg.ClientConfig & Limits): Promise<pg.Client> {
  return new pg.Client({ ...config, ...clientConfig(url, await readPooling(url), config) });
}
