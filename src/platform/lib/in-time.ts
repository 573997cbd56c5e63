export class TimeLimitError extends Error {
  constructor() {
    super('no response in time');
  }
}

/** Waits at most `limitMs` for work. Late work is not stopped, so its connections must be closed. @throws TimeLimitError */
export function inTime<T>(limitMs: number, work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let late: NodeJS.Immediate | undefined;
    // If this process was busy, a response may have arrived in time. So the event loop first gets a chance to read it.
    const timer = setTimeout(() => (late = setImmediate(() => reject(new TimeLimitError()))), limitMs);
    void work()
      .then(resolve, reject)
      .finally(() => {
        clearTimeout(timer);
        clearImmediate(late);
      });
  });
}
