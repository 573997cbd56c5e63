/** Maximum number of characters of a field name that a message quotes. The caller chooses the field name, which may be a megabyte long. */
const QUOTED_LENGTH = 80;

/**
 * Error for a body or query that cannot be decoded: 400 if it is malformed, 413 if it is too large, 415 if its type is not supported
 * (decision 2). The message has the form `field: fault` (decision 6), and the response shows it to the caller.
 */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
  readonly statusCode: 400 | 413 | 415;

  /**
   * @param where path of the field, or `body` or `query` if the fault is not in one field
   * @param fault description of the fault. The message is `where: fault`.
   */
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
