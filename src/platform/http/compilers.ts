import fastJsonStringify, { type Schema } from 'fast-json-stringify';
import type { FastifyInstance } from 'fastify';
import { lazily } from '../lib/lazily.ts';
import { compileSchema } from '../lib/validation.ts';
import { invalidValue } from './invalid-value.ts';

/** Names that messages use for the parts of a request. The body is not listed, because `check-body.ts` validates it. */
const PART_NAMES: Record<string, string> = { params: 'path', querystring: 'query' };

/**
 * Compiles each schema of a route when it is first needed. Otherwise the compilation of all schemas would take a sixth of the start time,
 * although most processes get requests for only some of the routes.
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
