import fastJsonStringify, { type Schema } from 'fast-json-stringify';
import type { FastifyInstance } from 'fastify';
import { lazily } from '../lib/lazily.ts';
import { compileSchema } from '../lib/validation.ts';
import { invalidValue } from './invalid-value.ts';

/** What a part of a request is called in messages. Bodies are validated where they are decoded (decode/check-body.ts). */
const PART_NAMES: Record<string, string> = { params: 'path', querystring: 'query' };

/**
 * Turns the schemas of routes into code, each when it is first needed: all of them together take a sixth of a start, and few
 * processes are asked for everything.
 */
export function compileOnDemand(app: FastifyInstance): void {
  app.setValidatorCompiler(({ schema, httpPart = '' }) => {
    const whole = PART_NAMES[httpPart];
    if (whole === undefined) {
      return () => true;
    }
    const validator = compileSchema(schema);
    return (value: unknown) => validator.isValid(value) || { error: invalidValue(validator, value, whole) };
  });
  app.setSerializerCompiler(({ schema }) => {
    const compiled = lazily(() => fastJsonStringify(schema as Schema));
    return (value: unknown) => compiled()(value);
  });
}
