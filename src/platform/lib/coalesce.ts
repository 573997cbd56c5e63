/** Returns a function that calls `work`, but never twice at once. All calls during a run share the next run, which does their work too. */
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
