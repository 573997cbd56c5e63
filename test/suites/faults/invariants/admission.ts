import type { BudgetedCall } from '../history.ts';
import type { Invariant } from './invariant.ts';

const LIMIT = 300;
const WINDOW_MS = 60_000;

/** Invariant 7. After the 200 of a revoke or rotate call, the service refuses every later call with the old secret. */
export const oldSecretsAreRefused: Invariant = {
  promise: '7 old secrets are refused',
  async check({ history }) {
    const letIn = history.probes.filter(({ status }) => status > 0 && status < 500 && status !== 401);
    return letIn.map(({ node, after, afterMs, status }) => `${node}: ${status}, ${afterMs} ms after the ${after}`);
  },
};

/** Invariant 8. All processes that share a Redis together admit at most 300 calls of a credential in each window of one minute. */
export const budgetsHold: Invariant = {
  promise: '8 budgets are kept',
  async check({ history }) {
    const byCounter = Map.groupBy(history.budgetedCalls, ({ counter }) => counter);
    return [...byCounter].flatMap(([counter, calls]) => {
      const most = Math.max(0, ...countInWindows(calls));
      return most > LIMIT ? [`${counter} let in ${most} calls within one window`] : [];
    });
  },
};

/**
 * Returns for each window the number of admitted calls that were certainly counted in this window. A window lasts one minute. It begins
 * with the first call that the service counts after the previous window, even if this call got no response.
 *
 * The service counts a call at an unknown time between its sending and its response. So only the earliest and the latest time are known at
 * which a window began, and so ended:
 * - The first call whose response came after the earliest end of the previous window may have begun the next window, when it was sent.
 * - The first admitted call that was sent after the latest end of the previous window was certainly counted after that end, at the latest
 *   when it got its response.
 *
 * A call is certainly in a window if it was sent after the latest beginning and got its response before the earliest end.
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
