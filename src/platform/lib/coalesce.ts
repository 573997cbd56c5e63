/**
 * Returns a function that calls `work`, but never twice at the same time. A call during a run waits for the next run, which begins when this
 * run has ended. All calls that wait share the next run.
 * @param work reads what it has to do when it begins, so that it includes the work of every call that waits for it
 */
export function coalesce(work: () => Promise<void>): () => Promise<void> {
  let last = Promise.resolve();
  let next: Promise<void> | null = null;
  const begin = async () => {
    next = null;
    await work();
  };
  return () => {
    if (next === null) {
      next = last.then(begin, begin);
      last = next;
    }
    return next;
  };
}
