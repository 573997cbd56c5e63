import { currentAccount } from './account.ts';
import { isArriving } from './arrivals.ts';
import { FairQueues } from './fair-queues.ts';

/**
 * Length of a turn in milliseconds: the time for which long work may block the event loop. Most work ends earlier. Node accepts only one
 * new connection in each iteration of the event loop, so longer turns would delay all connections that arrive during the work.
 */
const TURN_MS = 2;

export interface Turn {
  /** Returns true if the turn has lasted longer than `TURN_MS`. The call is cheap, so it can follow every step of the work. */
  isOver(): boolean;
  /** Waits for the next turn. Meanwhile, other work of the event loop can run. */
  next(): Promise<void>;
}

/** All work of this process that waits for its next turn, in one queue for each tenant. The tenants are served round robin. */
const waiting = new FairQueues<() => void>();

/**
 * Starts at most one turn in each iteration of the event loop, even if much work waits, so that short work can run between two turns.
 * Starts no turn during a burst of new connections.
 */
function giveTurn(): void {
  if (isArriving()) {
    setImmediate(giveTurn);
    return;
  }
  const next = waiting.shift();
  if (waiting.size > 0) {
    setImmediate(giveTurn);
  }
  next?.item();
}

/** Starts the first turn of a long task. Between two steps, the task calls `if (turn.isOver()) await turn.next()`. */
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

/** Does the same as `items.map(step)`, but divides the work into turns, so that the event loop is not blocked for long. */
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
