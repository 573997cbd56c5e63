import { MIMEType } from 'node:util';
import { convertText } from './convert.ts';
import { DecodeError } from './decode-error.ts';
import { decodeForm, decodeUrlEncoded } from './form.ts';
import { decodeJson } from './json.ts';
import { decodeMultipart } from './multipart.ts';

/** Bytes of a body, with the headers that say how to decode them. */
export interface EncodedBody {
  bytes: Buffer;
  contentType: string | undefined;
  contentEncoding: string | undefined;
}

/**
 * Decodes a body in one of the three content types of contract §1.
 * @param schema JSON schema that gives the types of the texts of a form
 * @throws DecodeError 400 if the body is malformed, 415 if its type, charset or encoding is not supported
 */
export function decodeBody({ bytes, contentType, contentEncoding }: EncodedBody, schema: unknown): unknown {
  if (contentEncoding && contentEncoding.toLowerCase() !== 'identity') {
    throw unsupported('a Content-Encoding other than identity is not supported');
  }
  const { essence, params } = readContentType(contentType);
  const charset = params.get('charset') ?? 'utf-8';
  // The name in RFC 9110 is `utf-8`, but many clients write `utf8`.
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
 * Refuses JSON that was sent as a form, as curl does if it gets no Content-Type. Decoded as a form, it would be one field with an odd
 * name, and the error would only say that the other fields are missing.
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
