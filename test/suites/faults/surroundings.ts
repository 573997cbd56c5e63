import { createRedis, findRedis, type Redis } from '../../support/redis.ts';
import { Balancer } from './balancer.ts';
import { type Stage, startProcesses } from './open-world.ts';
import { type Postgres, startPostgres } from './postgres.ts';
import { mountVolume, type Volume } from './volume.ts';
import type { LinkedProcess, Machines, World } from './world.ts';

interface Surroundings extends Machines {
  /** Small volume of PostgreSQL, which a fault can fill. It is undefined if this machine does not allow mounts. */
  volume: Volume | undefined;
  postgres: Postgres;
  balancer: Balancer;
  newProcess(name: string, args: string[]): Promise<LinkedProcess>;
}

export type SurroundingsWorld = World & Surroundings;

export async function startSurroundings({ folder, closers, newProcess, ...stage }: Stage): Promise<Surroundings> {
  const volume = await mountVolume(folder);
  closers.defer(async () => await volume?.unmount());
  const postgres = await startPostgres(volume?.folder ?? folder, closers);
  const redis = await startRedis();
  closers.defer(async () => await redis?.close());
  const shared = { ...stage.env, ...(redis === undefined ? {} : { REDIS_URL: redis.url }) };
  const start: Surroundings['newProcess'] = async (name, args) => {
    const env = (port: number) => ({ ...shared, DATABASE_URL: postgres.urlThrough(port) });
    return await newProcess({ name, args, database: { path: postgres.socketPath }, env });
  };
  const processes = await startProcesses(start);
  const balancer = new Balancer(processes.apis.map(({ url }) => url));
  closers.defer(() => balancer.close());
  await balancer.listen();
  return { volume, postgres, redis, ...processes, balancer, newProcess: start };
}

async function startRedis(): Promise<Redis | undefined> {
  const program = findRedis();
  const redis = program === undefined ? undefined : await createRedis(program);
  await redis?.start();
  return redis;
}
