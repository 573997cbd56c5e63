import type { BudgetedCall } from '../history.ts';
import type { Invariant } from './invariant.ts';

const LIMIT = 300;
const WINDOW_MS = 60_000;

/** Invariant 7. After the service has responded with 200 to a revoke or rotate call, it refuses every later call with the old secret. */
export const oldSecretsAreRefused: Invariant = {
  promise: '7 old secrets are refused',
  lookAt: 'src/access/credentials/, the authentication and its caches',
  async check({ history }) {
    const letIn = history.probes.filter(({ status }) => status > 0 && status < 500 && status !== 401);
    return letIn.map(
      ({ node, after, afterMs, status }) => `${node} answered ${status}, ${afterMs} ms after the ${after}`,
    );
  },
};

/** Invariant 8. All processes that share a Redis together admit at most 300 calls of a credential in each window of one minute. */
export const budgetsHold: Invariant = {
  promise: '8 budgets are kept',
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
 * Returns for each window the number of admitted calls that were certainly counted in this window. A window lasts one minute. It begins
 * with the first call that the service counts after the previous window, even if this call got no response.
 *
 * The service counts a call at an unknown time between its sending and its response. So the function knows only the earliest and the latest
 * time at which a window began. The earliest end of a window is one minute after its earliest beginning. The latest end is one minute after
 * its latest beginning. The function finds the two beginnings of the next window as follows:
 * - The first call whose response came after the earliest end of the previous window may begin the next window. So the earliest beginning
 *   is the time when this call was sent, or the earliest end of the previous window if that is later.
 * - The first admitted call that was sent after the latest end of the previous window was certainly counted after that end. So the latest
 *   beginning is the time when this call got its response.
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
