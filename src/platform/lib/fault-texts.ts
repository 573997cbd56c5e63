import type { AnySchemaObject, ErrorObject, SchemaObject } from 'ajv';
import { nearName } from './near-names.ts';
import { IN_WORDS } from './patterns.ts';
import { PRICE_KEYWORD, SOLD_AMOUNT_KEYWORD } from './price.ts';

export interface Fault extends ErrorObject {
  isNullOfOptional?: boolean;
}

/** Returns true if the faulty value is null, and its field is not required. */
export function isOptionalNull(schema: SchemaObject, value: unknown, fault: ErrorObject): boolean {
  const steps = stepsOf(fault);
  const faulty = steps.reduce((outer, step) => (outer as Record<string, unknown>)[step], value);
  return faulty === null && isOptional(schema, steps);
}

function isOptional(schema: SchemaObject, [step = '', ...rest]: string[]): boolean {
  const variants: SchemaObject[] | undefined = schema['anyOf'] ?? schema['allOf'];
  if (variants !== undefined) {
    return variants.some((variant) => isOptional(variant, [step, ...rest]));
  }
  const field: SchemaObject | undefined = schema['properties']?.[step] ?? schema['items'];
  return rest.length > 0
    ? field !== undefined && isOptional(field, rest)
    : step in (schema['properties'] ?? {}) && !schema['required']?.includes(step);
}

function stepsOf({ instancePath }: ErrorObject): string[] {
  const steps = instancePath.split('/').slice(1);
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns one text for each faulty field, such as `users.0.name: is required`. @param whole name of the whole value */
export function faultTexts(faults: Fault[], whole: string): string[] {
  // Ajv reports some faults several times, so the message leaves out these errors:
  // - For a nullable field: the errors of the variant `null` and of the union itself.
  // - For a price that is neither text nor number: the error of the type, because the keyword `x-price` reports the fault too.
  // - For an enum value of the wrong type: the error of the type, because the list of allowed values says more.
  const ofEnums = new Set(faults.filter(({ keyword }) => keyword === 'enum').map(({ instancePath }) => instancePath));
  const isRepetition = ({ keyword, params, instancePath }: Fault) =>
    keyword === 'anyOf' ||
    params['type'] === 'null' ||
    Array.isArray(params['type']) ||
    (keyword === 'type' && ofEnums.has(instancePath));
  const listed = faults.filter((fault) => !isRepetition(fault));
  const byField = Map.groupBy(listed, (fault) => fieldOf(fault, whole));
  const texts = [...byField].map(([field, own]) => {
    const remedy = own.some((fault) => fault.isNullOfOptional) ? ', or leave the field out' : '';
    return `${field}: ${[...new Set(own.map(textOf))].join(', ')}${remedy}`;
  });
  return texts.length === 0 ? [`${whole}: is not valid`] : texts;
}

/** Joins the texts of faults to one message. @param whole name of the validated value @param maxReported largest number of listed texts */
export function joinFaults(texts: string[], whole: string, maxReported = Infinity): string {
  const listed = texts.slice(0, maxReported);
  if (texts.length > maxReported) {
    listed.push(`${whole}: has more faults, which are shown after you correct these`);
  }
  return listed.join(' | ');
}

const MAX_SHOWN_NAME = 80;

function fieldOf(fault: Fault, whole: string): string {
  const path = stepsOf(fault).map((step) => step.slice(0, MAX_SHOWN_NAME));
  if (fault.keyword === 'required') {
    path.push(String(fault.params['missingProperty']));
  } else if (fault.keyword === 'additionalProperties') {
    path.push(String(fault.params['name']).slice(0, MAX_SHOWN_NAME));
  }
  return path.length === 0 ? whole : path.join('.');
}

const ARTICLES: Record<string, string> = {
  integer: 'a whole number',
  number: 'a number',
  string: 'a text',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

const FORMATS: Record<string, string> = {
  uuid: 'a UUID',
  uri: 'an absolute http or https URL',
  email: 'an e-mail address',
  date: 'a calendar day, YYYY-MM-DD',
  'date-time': 'a time with a time zone, such as 2026-11-20T18:42:07Z',
};

type Params = Record<string, unknown>;

const TEXTS: Record<string, (params: Params, schema?: AnySchemaObject) => string> = {
  required: () => 'is required',
  additionalProperties: ({ name, known }) => unknownText(String(name), known as string[]),
  type: ({ type }) => `must be ${ARTICLES[String(type)] ?? String(type)}`,
  minimum: ({ limit }) => `must be at least ${String(limit)}`,
  maximum: ({ limit }) => `must be at most ${String(limit)}`,
  minLength: ({ limit }) => (limit === 1 ? 'must not be empty' : `must have at least ${String(limit)} characters`),
  maxLength: ({ limit }) => `must have at most ${String(limit)} characters`,
  minItems: ({ limit }) => `must have at least ${String(limit)} ${limit === 1 ? 'entry' : 'entries'}`,
  maxItems: ({ limit }) => `must have at most ${String(limit)} entries`,
  minProperties: ({ limit }) => `must have at least ${String(limit)} ${limit === 1 ? 'field' : 'fields'}`,
  enum: ({ allowedValues }) => enumText((allowedValues as unknown[]).map((each) => JSON.stringify(each))),
  format: ({ format }) => `must be ${FORMATS[String(format)] ?? `of the form ${String(format)}`}`,
  pattern: (_, schema) => String(schema?.[IN_WORDS] ?? 'has a form that is not allowed'),
  [PRICE_KEYWORD]: () => 'must be an amount from 0 to 99999999.99 with at most two decimals, such as 81 or 81.50',
  [SOLD_AMOUNT_KEYWORD]: () => 'must be an amount from 0 to 99999999.99 without a sign, such as 149 or 149.50',
};

function enumText(values: string[]): string {
  return `must be ${values.length > 1 ? 'one of ' : ''}${values.join(', ')}`;
}

function textOf({ keyword, params, parentSchema, message = 'is not valid' }: Fault): string {
  return TEXTS[keyword]?.(params, parentSchema) ?? message;
}

const MIN_SUGGESTED_FIELD = 3;

function unknownText(name: string, known: string[]): string {
  const near = nearName(name, new Set(known), MIN_SUGGESTED_FIELD);
  return `is not a known field${near === null ? '' : ` (did you mean ${near}?)`}`;
}
