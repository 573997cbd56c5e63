import fastJsonStringify, { type Schema } from 'fast-json-stringify';
import type { FastifyInstance } from 'fastify';
import { compileSchema, invalidValue } from '../lib/validation.ts';

/** Names of the parts of a request in messages, by Fastify's names. `body.ts` validates the body. */
const PART_NAMES: Record<string, string> = { params: 'path', querystring: 'query' };

/** To compile all schemas at the start would take a sixth of the start time. */
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

const serializers = new Map<string, Serializer>();

/** Compiles at the first call. Of a union of an array and a page, one serializer would have to validate each response. */
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

/** With a union, the serializer would need a validator, which takes 90 ms to compile and doubles the time of each response. */
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
