import { setPriority } from 'node:os';
import type { ErrorCode } from '../errors.ts';
import { compileSchema, compileStripper } from '../lib/validation.ts';
import { invalidValue } from './invalid-value.ts';
import { toApiError } from './answers.ts';
import { decodeBody, type EncodedBody } from './decode/decode-body.ts';

/**
 * Input of a worker thread: an encoded body, and its JSON Schema as text. The type of the bytes is `Uint8Array`, because a Buffer becomes a
 * `Uint8Array` when it is sent to a thread.
 */
export interface BodyTask {
  body: Omit<EncodedBody, 'bytes'> & { bytes: Uint8Array };
  schema: string;
}

/**
 * Output of a worker thread: the value as JSON text, without the fields that the schema does not name. If the body is invalid, the output
 * is the error for the response.
 */
export type BodyResult = { json: string } | { refusal: { statusCode: number; code: ErrorCode; message: string } };

/**
 * Nice value of a worker thread, which gives it a lower priority than the event loop. If too few cores are free, the event loop then runs
 * first. Used only on Linux, because on other systems `setPriority` would change the priority of the whole process.
 */
const PRIORITY = 10;

if (process.platform === 'linux') {
  setPriority(PRIORITY);
}

const checks = new Map<string, ReturnType<typeof makeCheck>>();

/** Decodes and validates one body. Runs on a worker thread that `body-workers.ts` starts, so it does not block the event loop. */
export default function checkBody({ body, schema: text }: BodyTask): BodyResult {
  const { schema, validator, strip } = checkOf(text);
  try {
    const { bytes } = body;
    const value = decodeBody({ ...body, bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length) }, schema);
    if (validator.isValid(value)) {
      strip(value);
      return { json: JSON.stringify(value) };
    }
    throw invalidValue(validator, value, 'body', bytes.length);
  } catch (error) {
    const known = toApiError(error as Error);
    if (known === null) {
      throw error;
    }
    const { statusCode, code, message } = known;
    return { refusal: { statusCode, code, message } };
  }
}

function checkOf(text: string): ReturnType<typeof makeCheck> {
  const check = checks.get(text) ?? makeCheck(text);
  checks.set(text, check);
  return check;
}

function makeCheck(text: string) {
  const schema: object = JSON.parse(text);
  return { schema, validator: compileSchema(schema), strip: compileStripper(schema) };
}
