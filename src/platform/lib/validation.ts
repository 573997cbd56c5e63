import {
  _ as js,
  Ajv,
  type AnySchemaObject,
  type ErrorObject,
  type Options,
  type SchemaObject,
  type SchemaValidateFunction,
  type ValidateFunction,
} from 'ajv';
import type { DataValidationCxt } from 'ajv/dist/types/index.js';
import { default as formats } from 'ajv-formats';
import { type ApiError, apiError } from '../errors.ts';
import { MAX_FAULTS } from './bounds.ts';
import { type Fault, faultTexts, isOptionalNull, joinFaults } from './fault-texts.ts';
import { isUuid } from './ids.ts';
import { isPrice, isSoldAmount, PRICE_KEYWORD, SOLD_AMOUNT_KEYWORD } from './price.ts';
import { PASSWORD_KEYWORD, trimmed, TRIMMED_KEYWORD } from './unicode.ts';

/** Converts no types and fills in no defaults (rule 5). Trims the texts that the schema marks, in place. */
function newAjv(options: Options): Ajv {
  const ajv = new Ajv({ strict: false, ...options });
  formats.default(ajv, ['uri', 'email', 'date', 'date-time']);
  // The format `uuid` of the package ajv-formats also accepts the prefix `urn:uuid:`, which PostgreSQL refuses.
  ajv.addFormat('uuid', isUuid);
  const isCalendarDay = ajv.formats['date'] as { validate: (text: string) => boolean };
  const isUri = ajv.formats['uri'] as (text: string) => boolean;
  // Other programs load the pictures of a menu, and a URL with `javascript:`, `data:` or `file:` could attack them.
  ajv.addFormat('uri', (text) => /^https?:\/\/[^/?#]/i.test(text) && isUri(text));
  // PostgreSQL has no year 0, so dates of the year 0 are refused.
  ajv.addFormat('date', (text) => isCalendarDay.validate(text) && !text.startsWith('0000'));
  const isDateTime = ajv.formats['date-time'] as { validate: (text: string) => boolean };
  ajv.addFormat('date-time', (text) => isDateTime.validate(text) && isStorableTime(text));
  addCheck(ajv, PRICE_KEYWORD, isPrice);
  addCheck(ajv, SOLD_AMOUNT_KEYWORD, isSoldAmount);
  ajv.addKeyword({
    keyword: TRIMMED_KEYWORD,
    type: 'string',
    before: 'maxLength',
    modifying: true,
    errors: false,
    validate(_: unknown, value: string, _schema: unknown, context?: DataValidationCxt) {
      const { parentData, parentDataProperty } = context as DataValidationCxt;
      parentData[parentDataProperty] = trimmed(value);
      return true;
    },
  });
  ajv.addKeyword({
    keyword: PASSWORD_KEYWORD,
    type: 'string',
    before: 'maxLength',
    // Changes only the variable of the generated code that the next keywords check, not the value.
    code: ({ gen, data }) => gen.assign(data, js`${data}.normalize()`),
  });
  return ajv;
}

function addCheck(ajv: Ajv, keyword: string, isValid: (value: unknown) => boolean): void {
  ajv.addKeyword({ keyword, errors: false, validate: (_: unknown, value: unknown) => isValid(value) });
}

/** The package ajv-formats also accepts the second 60, which `Date` refuses. */
function isStorableTime(text: string): boolean {
  const at = Date.parse(text);
  return at >= FIRST_TIME && at <= LAST_TIME;
}

const FIRST_TIME = Date.parse('0001-01-01T00:00:00Z');
const LAST_TIME = Date.parse('9999-12-31T23:59:59.999Z');

/** A wrong nullable value causes up to four errors: two for its rules, one for the variant `null`, one for the union. */
const REPORTS_A_FAULT = 4;

export interface Validator {
  isValid(value: unknown): boolean;
  /** With `maxReported`, the search ends early and enters no list that is too long, because a client may send very many faults. */
  findFaults(value: unknown, maxReported?: number): Fault[];
}

const untilFirstFault = newAjv({ allErrors: false });
/** Its keyword `items` is replaced below, but Ajv needs its own to check schemas. So `untilFirstFault` checks them. */
const withAllFaults = newAjv({ allErrors: true, verbose: true, meta: false, validateSchema: false });
/** Bounds and progress of the current search for faults. There is only one search at a time, because validation is synchronous. */
let search = { maxReports: Infinity, foundInLists: 0 };

// Ajv's own `items` collects the faults of all entries, which may block the event loop for seconds. This one stops at enough.
withAllFaults.removeKeyword('items').addKeyword({
  keyword: 'items',
  type: 'array',
  errors: 'full',
  compile(schema: object, parentSchema: AnySchemaObject) {
    const maxItems: number = parentSchema['maxItems'] ?? Infinity;
    const check = withAllFaults.compile(schema);
    const checkEntries: SchemaValidateFunction = (list: unknown[], context) => {
      const faults: ErrorObject[] = [];
      const isEntered = list.length <= maxItems || search.maxReports === Infinity;
      for (let index = 0; isEntered && index < list.length && search.foundInLists < search.maxReports; index += 1) {
        const before = search.foundInLists;
        if (!check(list[index])) {
          const found = check.errors ?? [];
          // Inner lists are counted already. Dropped variants of a union stay counted, because they took time too.
          search.foundInLists = Math.max(search.foundInLists, before + found.length);
          for (const fault of found) {
            faults.push({ ...fault, instancePath: `${context?.instancePath}/${index}${fault.instancePath}` });
          }
        }
      }
      checkEntries.errors = faults;
      return faults.length === 0;
    };
    return checkEntries;
  },
});

// Ajv's own `additionalProperties` reports every unknown field, and an object of a megabyte may have a hundred thousand.
withAllFaults.removeKeyword('additionalProperties').addKeyword({
  keyword: 'additionalProperties',
  type: 'object',
  errors: 'full',
  compile(_isAllowed: false, parentSchema: AnySchemaObject) {
    const known = Object.keys(parentSchema['properties']);
    const names = new Set(known);
    const checkNames: SchemaValidateFunction = (value: object, context) => {
      const unknown = Object.keys(value).filter((name) => !names.has(name));
      const instancePath = context?.instancePath ?? '';
      checkNames.errors = unknown
        .slice(0, MAX_FAULTS + 1)
        .map((name) => ({ keyword: 'additionalProperties', instancePath, params: { name, known } }));
      return unknown.length === 0;
    };
    return checkNames;
  },
});

/** Returns a copy of the schema that refuses fields that it does not name, at any depth. */
export function closed<Schema>(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema), (_key, node) =>
    node?.type === 'object' && 'properties' in node ? { ...node, additionalProperties: false } : node,
  );
}

const validators = new Map<string, Validator>();

/** Returns the validator of a schema. Equal schemas share one, because the service often makes copies, which Ajv would keep. */
export function compileSchema(schema: object): Validator {
  const text = JSON.stringify(schema);
  const validator = validators.get(text) ?? makeValidator(schema);
  validators.set(text, validator);
  return validator;
}

function makeValidator(schema: SchemaObject): Validator {
  let isValid: ValidateFunction | undefined;
  let validate: ValidateFunction | undefined;
  return {
    isValid: (value) => (isValid ??= untilFirstFault.compile(schema))(value),
    findFaults(value, maxReported = Infinity) {
      const check = (validate ??= withAllFaults.compile(schema));
      search = { maxReports: maxReported * REPORTS_A_FAULT, foundInLists: 0 };
      check(value);
      return (check.errors ?? []).map((fault) => ({
        ...fault,
        isNullOfOptional: isOptionalNull(schema, value, fault),
      }));
    },
  };
}

/** Returns one text for each faulty field, for example `users.0.name: is required`. Returns an empty list for a valid value. */
export function findFaults(validator: Validator, value: unknown, whole: string): string[] {
  return validator.isValid(value) ? [] : faultTexts(validator.findFaults(value), whole);
}

/** Returns the error 400 `invalid_request` with one `field: text` for each of the first 50 faults (contract §7, rule 6). */
export function invalidValue(validator: Validator, value: unknown, whole: string): ApiError {
  const texts = faultTexts(validator.findFaults(value, MAX_FAULTS), whole);
  return apiError('invalid_request', joinFaults(texts, whole, MAX_FAULTS));
}
