import { processesOf, waitUntil, type World } from './world.ts';

/** Allowed growth of the JavaScript heap with its buffers, which includes garbage that is not yet collected. */
const USED_SLACK_MIB = 64;
/** Allowed growth of the resident memory. The allocator keeps the memory of ten thousand sockets. A leak in every fault would exceed it. */
const RESIDENT_SLACK_MIB = 256;
const DESCRIPTOR_SLACK = 24;
const BACK_WITHIN_MS = 75_000;

interface Usage {
  residentMiB: number;
  usedMiB: number;
  descriptors: number;
}

/** Memory and file descriptors, by process name. A restarted process is compared with the killed process of this name. */
type Baseline = Map<string, Usage>;

export async function measureBaseline(world: World): Promise<Baseline> {
  const usages = processesOf(world).map(async (process): Promise<[string, Usage]> => {
    const metrics = await process.metrics();
    const mebibytes = (name: string) => Math.round((metrics.get(name) ?? 0) / 1024 ** 2);
    const usage = {
      residentMiB: mebibytes('process_resident_memory_bytes'),
      usedMiB: mebibytes('nodejs_heap_size_used_bytes') + mebibytes('nodejs_external_memory_bytes'),
      descriptors: metrics.get('process_open_fds') ?? 0,
    };
    return [process.name, usage];
  });
  return new Map(await Promise.all(usages));
}

/** Reports memory and file descriptors that are still over their limits 75 s after the load (invariant 10). */
export async function checkResources(world: World, baseline: Baseline): Promise<void> {
  let now = await measureBaseline(world);
  const isBack = async () => {
    now = await measureBaseline(world);
    return [...now].every(([name, usage]) => isFlat(baseline.get(name), usage));
  };
  await waitUntil(isBack, BACK_WITHIN_MS, 2_000);
  for (const [name, usage] of now) {
    const before = baseline.get(name) ?? usage;
    const memory = `${before.residentMiB} → ${usage.residentMiB} MiB (in use ${before.usedMiB} → ${usage.usedMiB})`;
    const line = `${name}: ${memory}, ${before.descriptors} → ${usage.descriptors} descriptors`;
    world.findings.note(line);
    if (!isFlat(before, usage)) {
      world.findings.violation('10 memory and descriptors are flat', line);
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
