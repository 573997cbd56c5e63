import { processesOf, waitUntil, type World } from './world.ts';

const USED_SLACK_MIB = 64;
/**
 * Allowed growth of the resident memory of a process. The limit is large, because one fault opens ten thousand sockets, and the memory
 * allocator keeps the memory of these sockets. A leak in every round would still exceed the limit.
 */
const RESIDENT_SLACK_MIB = 256;
const DESCRIPTOR_SLACK = 24;
const BACK_WITHIN_MS = 75_000;

interface Usage {
  residentMiB: number;
  /** Size of the JavaScript heap and of buffers outside of it, including garbage that is not yet collected. */
  usedMiB: number;
  descriptors: number;
}

/** Memory and file descriptors, by process name. A restarted process keeps its name, so it is compared with the killed process. */
type Baseline = Map<string, Usage>;

/** Text for the report that says how much memory and how many file descriptors a process may gain during the run. */
const FLAT =
  `at the end at most ${USED_SLACK_MIB} MiB in use, ${RESIDENT_SLACK_MIB} MiB resident ` +
  `and ${DESCRIPTOR_SLACK} descriptors more than after warm-up`;

export async function measureBaseline(world: World): Promise<Baseline> {
  return new Map(await Promise.all(processesOf(world).map(async (each) => [each.name, await usageOf(each)] as const)));
}

/**
 * Prints the memory and file descriptors of each process. Growth over the limits is a violation if it remains 75 s after the load
 * (invariant 10).
 */
export async function checkResources(world: World, baseline: Baseline): Promise<void> {
  let now = await measureBaseline(world);
  await waitUntil(
    async () => {
      now = await measureBaseline(world);
      return [...now].every(([name, usage]) => isFlat(baseline.get(name), usage));
    },
    BACK_WITHIN_MS,
    2_000,
  );
  world.findings.note(`Memory and descriptors are flat: ${FLAT}.`);
  for (const [name, usage] of now) {
    const before = baseline.get(name) ?? usage;
    const memory = `${before.residentMiB} → ${usage.residentMiB} MiB (in use ${before.usedMiB} → ${usage.usedMiB})`;
    const line = `${name}: ${memory}, ${before.descriptors} → ${usage.descriptors} descriptors`;
    world.findings.note(line);
    if (!isFlat(before, usage)) {
      world.findings.violation('10 memory and descriptors are flat', line, 'heap snapshots; lsof of the process');
    }
  }
}

function isFlat(before: Usage | undefined, now: Usage): boolean {
  return (
    before === undefined ||
    (now.usedMiB <= before.usedMiB + USED_SLACK_MIB &&
      now.residentMiB <= before.residentMiB + RESIDENT_SLACK_MIB &&
      now.descriptors <= before.descriptors + DESCRIPTOR_SLACK)
  );
}

async function usageOf(process: { metrics(): Promise<Map<string, number>> }): Promise<Usage> {
  const metrics = await process.metrics();
  const mebibytes = (...names: string[]) => {
    return Math.round(names.reduce((sum, name) => sum + (metrics.get(name) ?? 0), 0) / 1024 ** 2);
  };
  return {
    residentMiB: mebibytes('process_resident_memory_bytes'),
    usedMiB: mebibytes('nodejs_heap_size_used_bytes', 'nodejs_external_memory_bytes'),
    descriptors: metrics.get('process_open_fds') ?? 0,
  };
}
