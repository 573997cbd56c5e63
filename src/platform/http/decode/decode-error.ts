/** Names come from the caller and may be a megabyte long; an answer quotes no more than this of them. */
const QUOTED_LENGTH = 80;

/**
 * A request that cannot be read: 400 malformed, 413 too large, 415 of a kind that is not understood (decision 2).
 * The message is what the caller gets to see, `field: fault` (decision 6).
 */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
  readonly statusCode: 400 | 413 | 415;

  /** `where` is the path of the field, or `body` or `query` for a fault of the whole. */
  constructor(statusCode: 400 | 413 | 415, where: string, fault: string) {
    super(`${quote(where)}: ${fault}`);
    this.statusCode = statusCode;
  }
}

function quote(name: string): string {
  if (name.length <= QUOTED_LENGTH) {
    return name.toWellFormed();
  }
  return `${name.slice(0, QUOTED_LENGTH).toWellFormed()}…`;
}
