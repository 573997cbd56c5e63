import { createRedis, findRedis, type Redis } from '../../support/redis.ts';
import { Balancer } from './balancer.ts';
import { type Postgres, startPostgres } from './postgres.ts';
import type { ServiceProcess } from './service-process.ts';
import { mountVolume, type Volume } from './volume.ts';
import type { Machines, Stage, World } from './world.ts';

/** One PostgreSQL with two API processes and two workers. */
interface Surroundings extends Machines {
  volume: Volume | undefined;
  postgres: Postgres;
  balancer: Balancer;
  /** Starts an additional process of the service, which runs until the end of the run. */
  newProcess(name: string, only: 'api' | 'worker' | null): Promise<ServiceProcess>;
}

/** State of a run on one simple installation. The faults of the run disturb processes, the database, callers and receivers. */
export type SurroundingsWorld = World & Surroundings;

/**
 * Starts PostgreSQL, Redis, the processes of the service and their load balancer. If this machine can mount a volume, PostgreSQL gets its
 * own small volume, which a fault can fill.
 */
export async function startSurroundings(stage: Stage): Promise<Surroundings> {
  const { folder, closers } = stage;
  const volume = await mountVolume(folder);
  closers.add(() => volume?.unmount());
  const postgres = await startPostgres(volume?.folder ?? folder);
  closers.add(() => postgres.close());
  const redis = await startRedis();
  closers.add(() => redis?.close());
  const env = { ...stage.env, ...(redis === undefined ? {} : { REDIS_URL: redis.url }) };
  const newProcess: Surroundings['newProcess'] = async (name, only) => {
    const database = { path: postgres.socketPath };
    const urlThrough = (port: number) => ({ ...env, DATABASE_URL: postgres.urlThrough(port) });
    const process = await stage.newProcess({ name, only, database, env: urlThrough });
    await process.start();
    return process;
  };
  const apis: Machines['apis'] = [await newProcess('api 1', 'api'), await newProcess('api 2', 'api')];
  const workers: Machines['workers'] = [await newProcess('worker 1', 'worker'), await newProcess('worker 2', 'worker')];
  const balancer = new Balancer(apis.map(({ url }) => url));
  await balancer.listen();
  closers.add(() => balancer.close());
  const command = { env: { ...env, DATABASE_URL: postgres.url } };
  return { volume, postgres, redis, apis, workers, balancer, command, newProcess };
}

async function startRedis(): Promise<Redis | undefined> {
  const program = findRedis();
  const redis = program === undefined ? undefined : await createRedis(program);
  await redis?.start();
  return redis;
}
