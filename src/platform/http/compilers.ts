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
  app.setSerializerCompiler(({ schema }) => serializerOf(schema as Schema));
}

type Serializer = (value: unknown) => string;

/** Serializers by the text of their schema. */
const serializers = new Map<string, Serializer>();

/**
 * Returns the serializer of a response. The response schema of a short list is a union of the array and a page of it. The array and the
 * page each get a serializer of their own, so that no response is validated against the union. The serializer is compiled at its first
 * call. Equal schemas share one serializer, because operations that return the same object have copies of its schema, and each app in a
 * process has copies too.
 */
export function serializerOf(schema: Schema): Serializer {
  const [first, second] = 'anyOf' in schema ? (schema.anyOf ?? []) : [];
  if (isOfType(first, 'array') && isOfType(second, 'object')) {
    const ofArray = serializerOf(first);
    const ofPage = serializerOf(second);
    return (value) => (Array.isArray(value) ? ofArray : ofPage)(value);
  }
  const compiled = lazily(() => {
    const text = JSON.stringify(schema);
    const serializer = serializers.get(text) ?? fastJsonStringify(withoutNullUnions(text));
    serializers.set(text, serializer);
    return serializer;
  });
  return (value) => compiled()(value);
}

/**
 * Returns the schema, with a nullable type in place of each union of a type and null. With a union, the serializer would validate each
 * value against the members of the union. Compiling these validators blocks the event loop for up to 90 ms at the first response, and
 * validating doubles the time of each response.
 * @param text the schema as JSON
 */
function withoutNullUnions(text: string): Schema {
  return JSON.parse(text, (_key, node) => {
    const [type, nothing, ...others] = Array.isArray(node?.anyOf) ? node.anyOf : [];
    if (!isOfType(nothing, 'null') || others.length > 0) {
      return node;
    }
    const { anyOf, ...annotations } = node;
    return { ...type, ...annotations, nullable: true };
  });
}

function isOfType(schema: unknown, type: string): schema is Schema {
  return typeof schema === 'object' && schema !== null && 'type' in schema && schema.type === type;
}
