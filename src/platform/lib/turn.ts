import { currentAccount } from './account.ts';
import { FairQueues } from './fair-queues.ts';

/**
 * Length of a turn in milliseconds. A turn is the time for which a long task may block the event loop without a pause. Most tasks end
 * within one turn. In each iteration of the event loop, Node accepts only one new connection from each listening socket. So longer turns
 * would delay all connections that arrive during the task.
 */
const TURN_MS = 2;

export interface Turn {
  /**
   * Returns true if the task has blocked the event loop for longer than `TURN_MS`. The call is cheap, so it can follow every step of the
   * task.
   */
  isOver(): boolean;
  /** Pauses the task until its next turn on the event loop. Meanwhile, other work can run. */
  next(): Promise<void>;
}

/**
 * Paused tasks of this process that wait for their next turn on the event loop, in one queue for each tenant. The tenants are served round
 * robin.
 */
const waiting = new FairQueues<() => void>();

/**
 * Gives the next turn to one paused task. In each iteration of the event loop, at most one task gets a turn, even if many tasks wait, so
 * that short work can run between two turns. During a burst of new connections, no task gets a turn.
 */
function giveTurn(): void {
  const next = waiting.shift();
  if (waiting.size > 0) {
    setImmediate(giveTurn);
  }
  next?.item();
}

/**
 * Starts the first turn of a long task that must not block the event loop for long. Between two steps, the task calls
 * `if (turn.isOver()) await turn.next()`.
 */
export function startTurn(): Turn {
  let endsAtMs = performance.now() + TURN_MS;
  return {
    isOver: () => performance.now() > endsAtMs,
    async next() {
      await new Promise<void>((resolve) => {
        waiting.push(currentAccount().tenant, resolve);
        if (waiting.size === 1) {
          setImmediate(giveTurn);
        }
      });
      endsAtMs = performance.now() + TURN_MS;
    },
  };
}

/** Does the same as `items.map(step)`, but pauses regularly (`Turn.next`), so that the event loop is not blocked for long. */
export async function mapInTurns<Item, Made>(items: Iterable<Item>, step: (item: Item) => Made): Promise<Made[]> {
  const turn = startTurn();
  const made: Made[] = [];
  for (const item of items) {
    if (turn.isOver()) {
      await turn.next();
    }
    made.push(step(item));
  }
  return made;
}
