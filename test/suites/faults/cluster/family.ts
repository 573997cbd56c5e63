import { copyFile, mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { prove } from '../prove.ts';
import { runFault, runFaults } from '../run.ts';
import type { ClusterWorld } from './cluster.ts';
import { asynchronous, databaseFaults } from './faults/database.ts';
import { processFaults } from './faults/processes.ts';
import { redisFaults } from './faults/redis.ts';
import { restore } from './faults/restoring.ts';
import type { Fault } from '../world.ts';

const FAULTS = [...processFaults, ...databaseFaults, ...redisFaults];
export const CLUSTER_FAULTS: Fault<ClusterWorld>[] = FAULTS.map((fault) => ({ ...fault, heal: restore }));

/** Runs the faults on a cluster. Copies the logs of its servers to a folder if a guarantee is broken. */
export async function runCluster(
  world: ClusterWorld,
  faults: readonly Fault<ClusterWorld>[],
  isShort: boolean,
): Promise<boolean> {
  const isWell = await runFaults(world, faults, isShort);
  if (!isWell) {
    const folder = await mkdtemp(join(tmpdir(), 'roomservice-cluster-logs-'));
    const logs = (await readdir(world.serverFolder)).filter((name) => name.endsWith('.log'));
    await Promise.all(logs.map((name) => copyFile(join(world.serverFolder, name), join(folder, name))));
    world.findings.note(`The logs of the servers are in ${folder}`);
  }
  return isWell;
}

/**
 * Proves that the invariants find all tamperings, and the lost writes of a cluster that replicates asynchronously. Other guarantees then also
 * break, because clients and receivers know the lost orders.
 */
export async function proveCluster(world: ClusterWorld): Promise<boolean> {
  const isProven = await prove(world);
  const { lost } = await runFault(world, asynchronous);
  world.findings.note(
    `${lost > 0 ? 'found ' : 'MISSED'} ${lost} lost writes of a cluster with asynchronous replication`,
  );
  return isProven && lost > 0;
}
