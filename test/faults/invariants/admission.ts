import type { BudgetedCall } from '../history.ts';
import type { Invariant } from './invariant.ts';

const LIMIT = 300;
const WINDOW_MS = 60_000;

/** Invariant 7: after the 200 of a revoke or rotate, no call that begins later is let in with the old secret. */
export const oldSecretsAreRefused: Invariant = {
  promise: '7 old secrets are refused',
  lookAt: 'src/access/credentials/ authentication, and whatever it keeps in memory',
  async check({ history }) {
    const letIn = history.probes.filter(({ status }) => status > 0 && status < 500 && status !== 401);
    return letIn.map(
      ({ node, after, afterMs, status }) => `${node} answered ${status}, ${afterMs} ms after the ${after}`,
    );
  },
};

/** Invariant 8: at most 300 calls of a credential are let in per window, over all processes that share a Redis. */
export const budgetsHold: Invariant = {
  promise: '8 budgets hold',
  lookAt: 'src/platform/http/rate-limit.ts',
  async check({ history }) {
    const byCounter = Map.groupBy(history.budgetedCalls, ({ counter }) => counter);
    return [...byCounter].flatMap(([counter, calls]) => {
      const most = Math.max(0, ...countInWindows(calls));
      return most > LIMIT ? [`${counter} let in ${most} calls within one window`] : [];
    });
  },
};

/**
 * How many calls were certainly let in by each window. A window begins with the first call that is counted after the one before
 * has ended, be it one whose answer was lost; a refused one begins none. When that was is only known to have been between its
 * sending and its answer, so the bounds are carried along.
 */
export function countInWindows(calls: BudgetedCall[]): number[] {
  const counted = calls.filter(({ outcome }) => outcome !== 'refused').sort((a, b) => a.sentAtMs - b.sentAtMs);
  const letIn = counted.filter(({ outcome }) => outcome === 'let_in');
  const counts: number[] = [];
  let endsAfterMs = Number.NEGATIVE_INFINITY;
  let endsBeforeMs = Number.NEGATIVE_INFINITY;
  for (;;) {
    const first = counted.find(({ answeredAtMs }) => answeredAtMs > endsAfterMs);
    const sure = letIn.find(({ sentAtMs }) => sentAtMs > endsBeforeMs);
    if (first === undefined || sure === undefined) {
      return counts;
    }
    const beganAfterMs = Math.max(endsAfterMs, first.sentAtMs);
    const beganBeforeMs = sure.answeredAtMs;
    endsAfterMs = beganAfterMs + WINDOW_MS;
    endsBeforeMs = beganBeforeMs + WINDOW_MS;
    counts.push(letIn.filter((call) => call.sentAtMs >= beganBeforeMs && call.answeredAtMs <= endsAfterMs).length);
  }
}
