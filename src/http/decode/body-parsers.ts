import type { IncomingMessage } from 'node:http';
import { MIMEType } from 'node:util';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { convertText } from './convert.ts';
import { DecodeError } from './decode-error.ts';
import { decodeForm, decodeUrlEncoded } from './form.ts';
import { decodeJson } from './json.ts';
import { decodeMultipart } from './multipart.ts';
import { readBody, TOO_LARGE, tooLarge } from './read-body.ts';

/**
 * Teaches the app and all its routes the three content types of contract §1. Every fault is a `DecodeError` (400, 413,
 * 415), thrown just before validation, so that whatever is checked before bodies (decision 1) answers first. The limit
 * is the route's or the app's `bodyLimit`.
 *
 * Fastify's part is to read bytes. Its own parsers, and faults reported from within a parser, would answer a request
 * for an unknown path with 400 or 415 and close the connection.
 */
export function registerBodyParsers(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (request: FastifyRequest, payload: IncomingMessage) =>
    readBody(payload, request.routeOptions.bodyLimit),
  );
  app.addHook('preParsing', (request, _reply, _payload, done) => {
    // A header that is no media type counts as none: fastify would refuse it before the parser, even without a body.
    if (request.mediaType === undefined) {
      delete request.headers['content-type'];
    }
    done();
  });
  app.addHook('preValidation', (request, _reply, done) => {
    if (!request.is404) {
      decodeRequest(request);
    }
    done();
  });
}

function decodeRequest(request: FastifyRequest): void {
  const { bodyLimit, schema } = request.routeOptions;
  if (request.body === TOO_LARGE) {
    throw tooLarge(bodyLimit);
  }
  if (Buffer.isBuffer(request.body) && request.body.length > 0) {
    request.body = decodeBody(request.body, request.headers, schema?.body);
  } else {
    // No body is an empty object to a route that expects one: the answer then names the fields that are missing.
    request.body = schema?.body ? {} : undefined;
  }
}

function decodeBody(bytes: Buffer, headers: FastifyRequest['headers'], schema: unknown): unknown {
  const encoding = headers['content-encoding'];
  if (encoding && encoding.toLowerCase() !== 'identity') {
    throw unsupported('a Content-Encoding is not supported');
  }
  const { essence, params } = readContentType(headers['content-type']);
  const charset = params.get('charset') ?? 'utf-8';
  if (charset.toLowerCase() !== 'utf-8') {
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
