import { setTimeout as sleep } from 'node:timers/promises';
import { runProgram } from '../../../../support/command.ts';
import { makeNextVersion } from '../../../../support/next-version.ts';
import type { Fault } from '../../faults/fault.ts';
import type { ServiceProcess } from '../../service-process.ts';
import { processesOf } from '../../world.ts';
import type { ClusterWorld } from '../cluster.ts';
import { restore } from './restoring.ts';

const PARTITION_MS = 14_000;
const BETWEEN_MS = 1_000;

/**
 * Upgrade to the next version of the service. It migrates the database while processes of this version run. Then the processes restart
 * with the next version, one by one.
 */
const rollingUpgrade: Fault<ClusterWorld> = {
  name: 'rolling-upgrade',
  isShort: true,
  interruptsDeliveries: true,
  async strike(world) {
    const { history, findings } = world;
    const failedBefore = history.balancedFailures.length;
    const program = await makeNextVersion();
    const { code, stdout, stderr } = await runProgram(['migrate'], { ...world.command, program });
    if (code !== 0 || !stdout.startsWith('Applied: ')) {
      const seen = `${stdout}${stderr}`;
      findings.violation('the next version migrates beside this version', seen, 'src/platform/db/migrate.ts');
    }
    findings.note(stdout.trim());
    await sleep(2 * BETWEEN_MS);
    for (const process of processesOf(world)) {
      await process.stop();
      process.program = program;
      await process.start();
      await sleep(BETWEEN_MS);
    }
    for (const failure of history.balancedFailures.slice(failedBefore, failedBefore + 5)) {
      findings.violation('rolling upgrade without a client error', failure, 'src/service/cli/serve.ts AppClosing');
    }
  },
  heal: restore,
};

/** Returns a fault in which two processes are killed one after the other, and each is started again. */
function killed(name: string, victims: (world: ClusterWorld) => readonly ServiceProcess[]): Fault<ClusterWorld> {
  return {
    name,
    interruptsDeliveries: true,
    isShort: name === 'api-killed',
    async strike(world) {
      for (const process of victims(world)) {
        await process.kill();
        await process.start();
        await sleep(BETWEEN_MS);
      }
    },
    heal: restore,
  };
}

/** No bytes pass between the database and one machine, which runs an API process and a worker. */
const partition: Fault<ClusterWorld> = {
  name: 'database-partition',
  interruptsDeliveries: true,
  async strike({ apis: [api], workers: [worker] }) {
    const links = [api.link, worker.link];
    links.forEach((link) => link.freeze());
    await sleep(PARTITION_MS);
    links.forEach((link) => link.thaw());
    await sleep(2 * BETWEEN_MS);
  },
  heal: restore,
};

export const processFaults: Fault<ClusterWorld>[] = [
  rollingUpgrade,
  killed('api-killed', ({ apis }) => apis),
  killed('worker-killed', ({ workers }) => workers),
  partition,
];
