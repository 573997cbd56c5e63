/** Returns a function that makes the object on its first call and returns the same object on every later call. */
export function lazily<Made extends object>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => (made ??= make());
}
