/** Maximum number of characters of a field name that a message quotes. The caller chooses the field name, which may be a megabyte long. */
const QUOTED_LENGTH = 80;

/** Error of a body or query that cannot be decoded (rule 2). The message `field: fault` is shown to the caller (rule 6). */
export class DecodeError extends Error {
  override readonly name = 'DecodeError';
  readonly statusCode: 400 | 413 | 415;

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
