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
import { IN_WORDS } from './patterns.ts';
import { isPrice, isSoldAmount, PRICE_KEYWORD, SOLD_AMOUNT_KEYWORD } from './price.ts';
import { PASSWORD_KEYWORD, trimmed, TRIMMED_KEYWORD } from './unicode.ts';

/**
 * Makes an Ajv validator with the formats and keywords of this project. Unless the options say otherwise, it converts no types and fills
 * in no defaults (decision 5). It trims the texts that the schema marks, in place.
 */
function newAjv(options: Options): Ajv {
  const ajv = new Ajv({ strict: false, ...options });
  formats.default(ajv, ['uri', 'email', 'date', 'date-time']);
  // The format `uuid` of the package ajv-formats also accepts the prefix `urn:uuid:`, which PostgreSQL refuses.
  ajv.addFormat('uuid', isUuid);
  const isCalendarDay = ajv.formats['date'] as { validate: (text: string) => boolean };
  const isUri = ajv.formats['uri'] as (text: string) => boolean;
  // The format `uri` is used only for URLs of pictures. Other programs load and show these pictures, and a URL with `javascript:`, `data:`
  // or `file:` could attack such a program. So only URLs with http and https are accepted.
  ajv.addFormat('uri', (text) => /^https?:\/\/[^/?#]/i.test(text) && isUri(text));
  // PostgreSQL has no year 0, so dates of the year 0 are refused.
  ajv.addFormat('date', (text) => isCalendarDay.validate(text) && !text.startsWith('0000'));
  const isDateTime = ajv.formats['date-time'] as { validate: (text: string) => boolean };
  ajv.addFormat('date-time', (text) => isDateTime.validate(text) && isStorableTime(text));
  ajv.addKeyword({ keyword: PRICE_KEYWORD, errors: false, validate: (_: unknown, value: unknown) => isPrice(value) });
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
  ajv.addKeyword({
    keyword: SOLD_AMOUNT_KEYWORD,
    errors: false,
    validate: (_: unknown, value: unknown) => isSoldAmount(value),
  });
  return ajv;
}

/**
 * Returns true if `Date` can read the text, and if its year in UTC is from 1 to 9999. The package ajv-formats also accepts the second 60,
 * which `Date` refuses.
 */
function isStorableTime(text: string): boolean {
  const at = Date.parse(text);
  return at >= FIRST_TIME && at <= LAST_TIME;
}

const FIRST_TIME = Date.parse('0001-01-01T00:00:00Z');
const LAST_TIME = Date.parse('9999-12-31T23:59:59.999Z');

/**
 * Bounds of a search for faults in one value. Each fault costs some microseconds, so the search must end early if a client sends a value
 * with very many faults.
 */
export interface Extent {
  /** Largest number of faults that the error message lists. The search ends soon after it has found this number of faults. */
  maxReported: number;
  /** True if the search for faults also checks the entries of lists that have more entries than the schema allows. */
  entersLongLists: boolean;
}

/**
 * Bounds of a search that finds all faults. Used only for tenant documents, because they come from the operator. For a value of a client,
 * such a search could take too long.
 */
const EVERYTHING: Extent = { maxReported: Infinity, entersLongLists: true };
/**
 * Largest number of errors that Ajv reports for one fault. A wrong value of a nullable field may cause four errors: two for the rules of
 * the field, one for the variant `null`, and one for the union.
 */
const REPORTS_A_FAULT = 4;

/** Validator of values against one JSON schema. */
export interface Validator {
  /** Returns true if the value has no fault. Stops at the first fault. */
  isValid(value: unknown): boolean;
  findFaults(value: unknown, extent: Extent): Fault[];
}

const untilFirstFault = newAjv({ allErrors: false });
/**
 * Ajv instance that finds all faults of a value. Its keyword `items` is replaced below, but Ajv needs its own `items` to check that a
 * schema is valid. So this instance does not check the schemas. The instance above, `untilFirstFault`, checks them.
 */
const withAllFaults = newAjv({ allErrors: true, meta: false, validateSchema: false });
/** Bounds and progress of the current search for faults. There is only one search at a time, because validation is synchronous. */
let search = { entersLongLists: true, maxReports: Infinity, foundInLists: 0 };

// Ajv's own keyword `items` collects the faults of all entries of a list. If each entry has faults, for example in a list with a megabyte
// of empty entries, this would block the event loop for seconds. The keyword `items` below stops when it has found enough faults for the
// error message.
withAllFaults.removeKeyword('items');
withAllFaults.addKeyword({
  keyword: 'items',
  type: 'array',
  errors: 'full',
  compile(schema: object, parentSchema: AnySchemaObject) {
    const maxItems: number = parentSchema['maxItems'] ?? Infinity;
    const check = withAllFaults.compile(schema);
    const checkEntries: SchemaValidateFunction = (list: unknown[], context) => {
      const faults: ErrorObject[] = [];
      const isEntered = list.length <= maxItems || search.entersLongLists;
      for (let index = 0; isEntered && index < list.length && search.foundInLists < search.maxReports; index += 1) {
        const before = search.foundInLists;
        if (!check(list[index])) {
          const found = check.errors ?? [];
          // `found` contains all faults of this entry, also those in its inner lists. The checks of the inner lists have already added
          // their faults to `foundInLists`. So that no fault counts twice, `found.length` is added to the earlier value `before`. But
          // `foundInLists` may already be higher than this sum. If one variant of a union is valid, Ajv drops the faults of the other
          // variants from `found`, but they stay in `foundInLists`. `Math.max` takes the higher number, because finding these faults took
          // time too, and `foundInLists` bounds the time of the search.
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

// Ajv's own keyword `pattern` reports the pattern, but an error message shows the words for it.
withAllFaults.removeKeyword('pattern');
withAllFaults.addKeyword({
  keyword: 'pattern',
  type: 'string',
  errors: 'full',
  compile(pattern: string, parentSchema: AnySchemaObject) {
    const expression = new RegExp(pattern, 'u');
    const checkText: SchemaValidateFunction = (text: string, context) => {
      const params = { words: parentSchema[IN_WORDS] ?? 'has a form that is not allowed' };
      checkText.errors = [{ keyword: 'pattern', instancePath: context?.instancePath ?? '', params }];
      return expression.test(text);
    };
    return checkText;
  },
});

// Ajv's own keyword `additionalProperties` reports every unknown field, and an object of a megabyte may have a hundred thousand of them. The
// keyword below reports only the first ones of each object.
withAllFaults.removeKeyword('additionalProperties');
withAllFaults.addKeyword({
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

/** Validators by the text of their schema. */
const validators = new Map<string, Validator>();

/**
 * Returns the validator of a schema. Equal schemas share one validator, because the service often makes new copies of a schema. For
 * example, it makes a copy each time an operator applies a tenant document (a JSON file that describes a tenant). Without sharing, Ajv
 * would compile and keep every copy.
 */
export function compileSchema(schema: object): Validator {
  const text = JSON.stringify(schema);
  const validator = validators.get(text) ?? makeValidator(schema);
  validators.set(text, validator);
  return validator;
}

/**
 * Makes the validator of a schema. It uses two functions of Ajv: one stops at the first fault, the other finds all faults. Ajv compiles
 * each function at its first use.
 */
function makeValidator(schema: SchemaObject): Validator {
  let isValid: ValidateFunction | undefined;
  let validate: ValidateFunction | undefined;
  return {
    isValid: (value) => (isValid ??= untilFirstFault.compile(schema))(value),
    findFaults(value, { maxReported, entersLongLists }) {
      const check = (validate ??= withAllFaults.compile(schema));
      search = { entersLongLists, maxReports: maxReported * REPORTS_A_FAULT, foundInLists: 0 };
      check(value);
      const faults: Fault[] = check.errors ?? [];
      return faults.map((fault) => ({ ...fault, isNullOfOptional: isOptionalNull(schema, value, fault) }));
    },
  };
}

/** Returns one text for each faulty field, for example `users.0.name: is required`. Returns an empty list for a valid value. */
export function findFaults(validator: Validator, value: unknown, whole: string): string[] {
  return validator.isValid(value) ? [] : faultTexts(validator.findFaults(value, EVERYTHING), whole);
}

/** Bounds of a search for the faults in one part of a request, such as its body. */
const FIRST_FAULTS: Extent = { maxReported: MAX_FAULTS, entersLongLists: false };

/**
 * Returns the error 400 `invalid_request` for a body, path or query that does not match its schema. Its message has one `field: text` for
 * each field with a fault, joined by ` | ` (contract §7, decision 6). It lists the first 50 faults.
 * @param whole `body`, `path` or `query`. The message has this name in place of the name of a field if a fault concerns the whole value.
 */
export function invalidValue(validator: Validator, value: unknown, whole: string): ApiError {
  const texts = faultTexts(validator.findFaults(value, FIRST_FAULTS), whole);
  return apiError('invalid_request', joinFaults(texts, whole, MAX_FAULTS));
}
