import fastJsonStringify, { type Schema } from 'fast-json-stringify';
import type { FastifyInstance } from 'fastify';
import { compileSchema } from '../lib/validation.ts';

/**
 * Turns the schemas of routes into code, each when it is first needed: all of them together take a sixth of a start, and few
 * processes are asked for everything.
 */
export function compileOnDemand(app: FastifyInstance): void {
  app.setValidatorCompiler(({ schema }) => {
    const compiled = lazily(() => compileSchema(schema as object));
    return (value: unknown) => {
      const validate = compiled();
      return validate(value) || { error: validate.errors ?? [] };
    };
  });
  app.setSerializerCompiler(({ schema }) => {
    const compiled = lazily(() => fastJsonStringify(schema as Schema));
    return (value: unknown) => compiled()(value);
  });
}

function lazily<Made extends object>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => (made ??= make());
}
