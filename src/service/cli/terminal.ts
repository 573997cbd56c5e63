/** Progress of long work: on a terminal alone, and on stderr, so that it never mixes with a result. */
export function showProgress(message: string): void {
  if (process.stderr.isTTY) {
    console.error(message);
  }
}

/** What a person should know beside the results, on stderr. */
export function notify(text: string): void {
  console.error(text);
}

/** A result on stdout. */
export function print(text: string): void {
  console.log(text);
}

export function printJson(value: unknown): void {
  console.log(JSON.stringify(value, null, 2));
}
