import fastJsonStringify, { type Schema } from 'fast-json-stringify';
import type { FastifyInstance } from 'fastify';
import { compileSchema, invalidValue } from '../lib/validation.ts';

/**
 * Names of the parts of a request in error messages. The keys are Fastify's names of these parts. The body is not listed, because
 * `body.ts` validates it.
 */
const PART_NAMES: Record<string, string> = { params: 'path', querystring: 'query' };

/**
 * Compiles a schema of a route only when a request first needs it. To compile all schemas at the start would take a sixth of the start
 * time, although most processes get requests for only some of the routes.
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

/** Compiled serializers, by the JSON text of their schema. */
const serializers = new Map<string, Serializer>();

/**
 * Returns the serializer of a response. The serializer is compiled when it is first called. If several operations have equal response
 * schemas, they share one serializer.
 *
 * Some operations return an array of all entries or, if the request asks for a page, an object with one page. Their response schema is a
 * union of an array and an object. One serializer for this union would have to validate each response to find its type. So the array and
 * the object each get a serializer.
 */
export function serializerOf(schema: Schema): Serializer {
  const [first, second] = 'anyOf' in schema ? (schema.anyOf ?? []) : [];
  if (isOfType(first, 'array') && isOfType(second, 'object')) {
    const ofArray = serializerOf(first);
    const ofPage = serializerOf(second);
    return (value) => (Array.isArray(value) ? ofArray : ofPage)(value);
  }
  let compiled: Serializer | undefined;
  return (value) => (compiled ??= compileSerializer(schema))(value);
}

function compileSerializer(schema: Schema): Serializer {
  const text = JSON.stringify(schema);
  const serializer = serializers.get(text) ?? fastJsonStringify(withoutNullUnions(text));
  serializers.set(text, serializer);
  return serializer;
}

/**
 * Returns the schema, but with a nullable type in place of each union of a type and null. For each union, the serializer would have a
 * validator that finds the type of each value. Compiling these validators would block the event loop for up to 90 ms at the first response.
 * Running them would double the time of each response.
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
