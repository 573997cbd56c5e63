import assert from 'node:assert/strict';
import type { RedisBudgets } from '#platform/http/redis-budgets.ts';
import type { Answer } from './http.ts';
import type { TestService } from './service.ts';
import { eventually } from './webhooks.ts';

const DEADLINE_MS = 60_000;
/** Number of calls under way at the same time. It is small, so that the service refuses no call for being busy. */
const CALLS_AT_ONCE = 20;

/** Waits until each of the nodes knows how many nodes share the budgets in Redis. The nodes are all nodes that use this Redis. */
export async function waitUntilNodesCounted(nodes: RedisBudgets[]): Promise<void> {
  const areCounted = () => nodes.every((node) => node.processes === nodes.length);
  await eventually(areCounted, `count of ${nodes.length} nodes on each node`, DEADLINE_MS);
}

/** Lists the orders `count` times with the same credential, alternately on each of the nodes. */
export async function listOrdersAlternately(
  nodes: TestService[],
  headers: Record<string, string>,
  count: number,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  while (answers.length < count) {
    const batch = Array.from({ length: Math.min(CALLS_AT_ONCE, count - answers.length) }, async (_, index) => {
      const node = nodes[(answers.length + index) % nodes.length];
      assert.ok(node);
      return await node.call('GET', '/v1/third-party/orders/', { headers });
    });
    answers.push(...(await Promise.all(batch)));
  }
  return answers;
}
