import { undecodable } from '../undecodable.ts';
import { MAX_FIELDS } from './form.ts';
import { decodeUtf8, refuseBadText } from './text.ts';

/** Matches one parameter of a Content-Disposition header. The value may be in quotes (RFC 9110 §5.6.6). */
const PARAMETER = /\s*;\s*([^\s=;"]+)=(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/y;
const PLAIN_ENCODINGS: ReadonlySet<string> = new Set(['7bit', '8bit', 'binary']);

/** Decodes RFC 7578. A streaming parser would drop unnamed fields and replace bytes. Latin-1 keeps all bytes. @throws ApiError 400 */
export function decodeMultipart(body: Buffer, boundary: string | null): Array<[string, string]> {
  if (!boundary) {
    throw undecodable('body', 'is multipart/form-data without a boundary');
  }
  const [, ...sections] = `\r\n${body.toString('latin1')}`.split(`\r\n--${boundary}`, MAX_FIELDS + 3);
  if (sections.length > MAX_FIELDS + 1) {
    throw undecodable('body', `contains more than ${MAX_FIELDS} fields`);
  }
  const end = sections.findIndex((section) => section.startsWith('--'));
  if (end === -1) {
    throw undecodable('body', 'ends before its closing boundary');
  }
  return sections.slice(0, end).map(decodePart);
}

/** `part` has the rest of the boundary's line, header lines, an empty line, and the value. */
function decodePart(part: string): [string, string] {
  const headersEnd = part.indexOf('\r\n\r\n');
  const [restOfLine, ...lines] = part.slice(0, Math.max(headersEnd, 0)).split('\r\n');
  if (headersEnd === -1 || restOfLine?.trim()) {
    throw undecodable('body', 'contains a multipart part that is malformed');
  }
  const headers = new Map(lines.map(splitHeader));
  const parameters = parseDisposition(headers.get('content-disposition') ?? '');
  const name = decodeText(parameters.get('name') ?? '', 'body');
  if (name === '') {
    throw undecodable('body', 'contains a part without a name');
  }
  if (parameters.has('filename') || parameters.has('filename*')) {
    throw undecodable(name, 'files are not accepted');
  }
  const encoding = headers.get('content-transfer-encoding') ?? 'binary';
  if (!PLAIN_ENCODINGS.has(encoding.toLowerCase())) {
    throw undecodable(name, 'has a Content-Transfer-Encoding other than 7bit, 8bit or binary');
  }
  return [name, decodeText(part.slice(headersEnd + 4), name)];
}

function splitHeader(line: string): [string, string] {
  const colon = line.indexOf(':');
  if (colon === -1) {
    throw undecodable('body', 'contains a multipart part that is malformed');
  }
  return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
}

function parseDisposition(disposition: string): Map<string, string> {
  const parameters = new Map<string, string>();
  const start = /^form-data/i.test(disposition) ? 'form-data'.length : 0;
  for (let end = start; end < disposition.length; end = PARAMETER.lastIndex) {
    PARAMETER.lastIndex = end;
    const [, name, quoted, token] = PARAMETER.exec(disposition) ?? [];
    if (name === undefined) {
      throw undecodable('body', 'contains a malformed Content-Disposition');
    }
    // A backslash escapes a quote or a backslash. A backslash before any other character is an ordinary character.
    parameters.set(name.toLowerCase(), quoted?.replaceAll(/\\(["\\])/g, '$1') ?? token ?? '');
  }
  return parameters;
}

function decodeText(latin1: string, where: string): string {
  const text = decodeUtf8(Buffer.from(latin1, 'latin1'), where);
  refuseBadText(text, where);
  return text;
}
