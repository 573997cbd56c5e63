import { currentAccount } from './account.ts';
import { isArriving } from './arrivals.ts';
import { FairLines } from './fair-lines.ts';

/**
 * Milliseconds that a piece of work may hold the event loop at a time: most work is done by then. Node accepts one new connection
 * in each round of the event loop, so longer turns would hold up all connections that come meanwhile.
 */
const TURN_MS = 2;

export interface Turn {
  /** True once the work has held the event loop for its time. Cheap enough to ask at every step. */
  isOver(): boolean;
  /** Lets everything else that waits for the event loop run, and begins the next turn. */
  next(): Promise<void>;
}

/** Work that waits for its turn, of the whole process: tenants take turns. */
const waiting = new FairLines<() => void>();

/** One turn for each round of the event loop, however much work waits: what is neither long nor waiting runs in between. */
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

/** Cuts long work into turns: between two steps, `if (turn.isOver()) await turn.next()`. */
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

/** `items.map(step)`, in turns. */
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
