import { MIMEType } from 'node:util';
import { convertText } from './convert.ts';
import { DecodeError } from './decode-error.ts';
import { decodeForm, decodeUrlEncoded } from './form.ts';
import { decodeJson } from './json.ts';
import { decodeMultipart } from './multipart.ts';

/** A body as it came, with the headers that say how to read it. */
export interface EncodedBody {
  bytes: Buffer;
  contentType: string | undefined;
  contentEncoding: string | undefined;
}

/**
 * The value of a body in one of the three content types of contract §1.
 * @param schema says what the texts of a form stand for
 * @throws DecodeError 400 malformed, 415 of a kind that is not understood
 */
export function decodeBody({ bytes, contentType, contentEncoding }: EncodedBody, schema: unknown): unknown {
  if (contentEncoding && contentEncoding.toLowerCase() !== 'identity') {
    throw unsupported('a Content-Encoding is not supported');
  }
  const { essence, params } = readContentType(contentType);
  const charset = params.get('charset') ?? 'utf-8';
  // RFC 9110 names it `utf-8`; `utf8` is what many clients write.
  if (!/^utf-?8$/i.test(charset)) {
    throw unsupported('no charset but UTF-8 is supported');
  }
  switch (essence) {
    case 'application/json':
      return decodeJson(bytes);
    case 'application/x-www-form-urlencoded':
      refuseJson(bytes);
      return convertText(decodeForm(decodeUrlEncoded(bytes, 'body')), schema);
    case 'multipart/form-data':
      return convertText(decodeForm(decodeMultipart(bytes, params.get('boundary'))), schema);
    default:
      throw unsupported(
        'Content-Type must be application/json, application/x-www-form-urlencoded or multipart/form-data',
      );
  }
}

const OPENING_BRACE = '{'.charCodeAt(0);

/** What curl sends of JSON where nobody names a type: as a form it would be one field of an odd name, and all others missing. */
function refuseJson(bytes: Buffer): void {
  if (bytes[0] === OPENING_BRACE && isJson(bytes)) {
    throw new DecodeError(400, 'body', 'is JSON sent as a form: set Content-Type to application/json');
  }
}

function isJson(bytes: Buffer): boolean {
  try {
    decodeJson(bytes);
    return true;
  } catch {
    return false;
  }
}

function readContentType(header = ''): MIMEType {
  try {
    return new MIMEType(header);
  } catch {
    throw unsupported('Content-Type is missing or malformed');
  }
}

function unsupported(fault: string): DecodeError {
  return new DecodeError(415, 'body', fault);
}
