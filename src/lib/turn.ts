/** Milliseconds that one piece of work may hold the event loop before others get their turn. */
const TURN_MS = 8;

export interface Turn {
  /** True once the work has held the event loop for its time. Cheap enough to ask at every step. */
  isOver(): boolean;
  /** Lets everything else that waits for the event loop run, and begins the next turn. */
  next(): Promise<void>;
}

/** Cuts long work into turns: between two steps, `if (turn.isOver()) await turn.next()`. */
export function startTurn(maxMs = TURN_MS): Turn {
  let endsAtMs = performance.now() + maxMs;
  return {
    isOver: () => performance.now() > endsAtMs,
    async next() {
      await new Promise<void>((resolve) => setImmediate(resolve));
      endsAtMs = performance.now() + maxMs;
    },
  };
}
