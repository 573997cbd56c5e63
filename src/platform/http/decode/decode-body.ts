import { MIMEType } from 'node:util';
import { convertText } from './convert.ts';
import { DecodeError } from './decode-error.ts';
import { decodeForm, decodeUrlEncoded } from './form.ts';
import { decodeJson } from './json.ts';
import { decodeMultipart } from './multipart.ts';

/** Bytes of a body, and the headers that say how to decode it. */
export interface EncodedBody {
  bytes: Buffer;
  contentType: string | undefined;
  contentEncoding: string | undefined;
}

/**
 * Decodes a body in one of the three content types of contract §1.
 * @param schema JSON Schema of the body. A form has only texts, which are converted to the types in this schema.
 * @throws DecodeError 400 if the body is malformed, 415 if its type, charset or encoding is not supported
 */
export function decodeBody({ bytes, contentType, contentEncoding }: EncodedBody, schema: unknown): unknown {
  if (contentEncoding && contentEncoding.toLowerCase() !== 'identity') {
    throw unsupported('a Content-Encoding other than identity is not supported');
  }
  const { essence, params } = readContentType(contentType);
  const charset = params.get('charset') ?? 'utf-8';
  // The charset is named `utf-8` (RFC 9110), but `utf8` is accepted too, because many clients write it.
  if (!/^utf-?8$/i.test(charset)) {
    throw unsupported('a charset other than UTF-8 is not supported');
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

/**
 * Refuses JSON that is sent with the content type of a form. For example, `curl --data` sends any body with this content type if the user
 * sets no Content-Type header. Without this check, the JSON would be read as one form field with a strange name. The error message would
 * then only list the fields that are missing.
 * @throws DecodeError 400
 */
function refuseJson(bytes: Buffer): void {
  if (bytes[0] === OPENING_BRACE && isJson(bytes)) {
    throw new DecodeError(
      400,
      'body',
      'is JSON, but its Content-Type is that of a form. Set Content-Type to application/json',
    );
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
