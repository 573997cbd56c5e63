import { setTimeout as sleep } from 'node:timers/promises';
import { runProgram } from '../../../../support/command.ts';
import { makeNextVersion } from '../../../../support/next-version.ts';
import { withoutClientErrors } from '../../faults/processes.ts';
import { type Fault, type LinkedProcess, processesOf } from '../../world.ts';
import type { ClusterWorld } from '../cluster.ts';

const PARTITION_MS = 14_000;
const BETWEEN_MS = 1_000;

/** Returns a fault in which two processes are killed one after the other, and each is started again. */
function killed(name: string, victims: (world: ClusterWorld) => readonly LinkedProcess[]): Fault<ClusterWorld> {
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
  };
}

export const processFaults: Fault<ClusterWorld>[] = [
  /** The next version migrates the database while processes of this version run. Then they restart with the next version, one by one. */
  {
    name: 'rolling-upgrade',
    isShort: true,
    interruptsDeliveries: true,
    async strike(world) {
      const program = await makeNextVersion();
      await withoutClientErrors('rolling upgrade', world, async () => {
        const { code, stdout, stderr } = await runProgram(['migrate'], { ...world.command, program });
        if (code !== 0 || !stdout.startsWith('Applied: ')) {
          world.findings.violation('the next version migrates beside this version', `${stdout}${stderr}`);
        }
        await sleep(2 * BETWEEN_MS);
        for (const process of processesOf(world)) {
          await process.stop();
          process.program = program;
          await process.start();
          await sleep(BETWEEN_MS);
        }
      });
    },
  },
  killed('api-killed', ({ apis }) => apis),
  killed('worker-killed', ({ workers }) => workers),
  /** No bytes pass between the database and one machine, which runs an API process and a worker. */
  {
    name: 'database-partition',
    interruptsDeliveries: true,
    async strike({ apis: [api], workers: [worker] }) {
      const links = [api.link, worker.link];
      links.forEach((link) => link.freeze());
      await sleep(PARTITION_MS);
      links.forEach((link) => link.thaw());
      await sleep(2 * BETWEEN_MS);
    },
  },
];
