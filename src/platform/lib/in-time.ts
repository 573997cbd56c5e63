/** Error of work that has not ended within its time limit. */
export class TimeLimitError extends Error {
  constructor() {
    super('no response in time');
  }
}

/**
 * Runs `work` with a time limit. The time limits of client libraries are often not enough, because each covers only a part of the work. The
 * work is not stopped at the time limit, so the caller must close the connections that the work has opened.
 * @param work gets the deadline, as a time of `performance.now()`
 * @throws TimeLimitError if the work does not end in time
 */
export function inTime<T>(limitMs: number, work: (deadlineMs: number) => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let late: NodeJS.Immediate | undefined;
    // The work usually waits for the response of a server. If this process was busy, the response may have arrived in time, but the process
    // has not read it yet. So the promise is rejected only after the event loop had a chance to read the response.
    const timer = setTimeout(() => (late = setImmediate(() => reject(new TimeLimitError()))), limitMs);
    void work(performance.now() + limitMs)
      .then(resolve, reject)
      .finally(() => {
        clearTimeout(timer);
        clearImmediate(late);
      });
  });
}
