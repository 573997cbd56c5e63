import { setTimeout as sleep } from 'node:timers/promises';
import { startService } from '../service.ts';
import { median } from '../statistics.ts';
import { memoryBelow, p50Below, type Row } from '../table.ts';
import { openTemporaryFolder } from '../temporary.ts';
import type { World } from '../world.ts';
import type { Operation } from './operation.ts';

const IDLE_MS = 3_000;

export const START: Operation[] = [{ name: 'start', measure: measureStart }];

/**
 * Measures the start time and the idle memory of the service when it runs with an embedded database. The memory does not include the
 * memory of the database.
 */
async function measureStart(world: World): Promise<Row[]> {
  const folder = world.resources.use(await openTemporaryFolder());
  const starts: { readyAfterMs: number; rssMb: number }[] = [];
  const first = world.resources.use(await startService({ DATA_DIR: folder.dataDir }));
  await first[Symbol.asyncDispose]();
  for (let round = 0; round < world.options.rounds; round += 1) {
    const service = world.resources.use(await startService({ DATA_DIR: folder.dataDir }));
    await sleep(IDLE_MS);
    starts.push({ readyAfterMs: service.readyAfterMs, rssMb: await service.rssMb() });
    await service[Symbol.asyncDispose]();
  }
  return [
    {
      operation: 'ready on an existing database',
      p50Ms: median(starts.map(({ readyAfterMs }) => readyAfterMs)),
      goal: p50Below(1_000),
      note: 'from the start of the command, including the start of its PostgreSQL',
    },
    { operation: 'idle memory', memoryMb: median(starts.map(({ rssMb }) => rssMb)), goal: memoryBelow(150) },
  ];
}
