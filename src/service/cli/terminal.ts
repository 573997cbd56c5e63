/** Prints progress of long work on stderr, so that stdout has only the result. Prints nothing if stderr is not a terminal. */
export function showProgress(message: string): void {
  if (process.stderr.isTTY) {
    console.error(message);
  }
}

/** Prints a notice for the operator on stderr. */
export function notify(text: string): void {
  console.error(text);
}

/** Prints the result of a command on stdout. */
export function print(text: string): void {
  console.log(text);
}

/** Prints the result of a command on stdout as indented JSON. */
export function printJson(value: unknown): void {
  console.log(JSON.stringify(value, null, 2));
}

/** Returns a number of bytes as text, in KiB below 10 MiB and otherwise in MiB. */
export function formatBytes(bytes: number): string {
  const kib = bytes / 1024;
  return kib < 10 * 1024 ? `${Math.ceil(kib)} KiB` : `${Math.ceil(kib / 1024)} MiB`;
}

/** Characters that control a terminal: control characters, line and paragraph separators, and those that change the direction of text. */
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Replaces each character that controls a terminal, also tabs and line breaks, with its escape `\uXXXX`. Used for texts that tenants wrote.
 */
export function printable(text: string): string {
  return text.replace(CONTROL, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
