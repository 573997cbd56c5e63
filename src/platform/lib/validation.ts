import { Ajv, type AnySchemaObject, type ErrorObject, type Options, type SchemaValidateFunction } from 'ajv';
import { default as formats } from 'ajv-formats';
import { isUuid } from './ids.ts';
import { lazily } from './lazily.ts';
import { isPrice, PRICE_KEYWORD } from './price.ts';

/** A fault as the validator reports it. */
export interface Fault {
  keyword: string;
  instancePath: string;
  params: Record<string, unknown>;
  message?: string;
}

/** The checks of every schema: strictly typed, nothing converted, filled in or left out (decision 5). */
function newAjv(options: Options): Ajv {
  const ajv = new Ajv({ strict: false, ...options });
  formats.default(ajv, ['uri', 'email', 'date', 'date-time']);
  // The package's own takes `urn:uuid:` before it as well, which PostgreSQL does not.
  ajv.addFormat('uuid', isUuid);
  const isCalendarDay = ajv.formats['date'] as { validate: (text: string) => boolean };
  const isUri = ajv.formats['uri'] as (text: string) => boolean;
  // Pictures are all that is named by a URL here, and what shows them follows it: `javascript:`, `data:` and `file:` are none.
  ajv.addFormat('uri', (text) => /^https?:\/\/[^/?#]/i.test(text) && isUri(text));
  // PostgreSQL knows no year 0.
  ajv.addFormat('date', (text) => isCalendarDay.validate(text) && !text.startsWith('0000'));
  ajv.addKeyword({ keyword: PRICE_KEYWORD, errors: false, validate: (_: unknown, value: unknown) => isPrice(value) });
  return ajv;
}

/** How far a search for faults goes. It costs some microseconds a fault, so what a stranger sends must bound it. */
export interface Extent {
  /** How many faults are told. The search ends soon after so many. */
  maxTold: number;
  /** Whether the entries of a list that is too long are looked at as well. */
  entersLongLists: boolean;
}

/** For a document that its own author checks: every fault, however many. */
const EVERYTHING: Extent = { maxTold: Infinity, entersLongLists: true };
/** A nullable field reports each arm of its union: so many reports make at least one fault. */
const REPORTS_A_FAULT = 4;

/** A check of values against one JSON schema. */
export interface Validator {
  /** Ends at the first fault. */
  isValid(value: unknown): boolean;
  findFaults(value: unknown, extent: Extent): Fault[];
}

const untilFirstFault = newAjv({ allErrors: false });
/** The schema itself is checked by the other one: the meta-schema has lists of its own, which need Ajv's `items`. */
const withAllFaults = newAjv({ allErrors: true, meta: false, validateSchema: false });
/** The search for faults that is going on: it is one, for validation waits for nothing. */
let search = { entersLongLists: true, maxReports: Infinity, foundInLists: 0 };

// Ajv's own `items` collects the faults of every entry of a list, of a megabyte of empty ones too: seconds of the event loop.
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
          // Lists within the entry have counted theirs.
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

/** Makes the check of a schema; its parts are compiled when they are first needed. */
export function compileSchema(schema: object): Validator {
  const isValid = lazily(() => untilFirstFault.compile(schema));
  const validate = lazily(() => withAllFaults.compile(schema));
  return {
    isValid: (value) => isValid()(value),
    findFaults(value, { maxTold, entersLongLists }) {
      const check = validate();
      search = { entersLongLists, maxReports: maxTold * REPORTS_A_FAULT, foundInLists: 0 };
      check(value);
      return check.errors ?? [];
    },
  };
}

const stripping = newAjv({ allErrors: false, removeAdditional: 'all' });

/** Makes a function that removes, in place, the fields of a valid value that its schema does not name (decision 4 ignores them). */
export function compileStripper(schema: object): (value: unknown) => void {
  const strip = lazily(() => stripping.compile(schema));
  return (value) => strip()(value);
}

/** Every fault of a value, each as `path: text`; empty for a good one. */
export function findFaults(validator: Validator, value: unknown, whole: string): string[] {
  return validator.isValid(value) ? [] : faultTexts(validator.findFaults(value, EVERYTHING), whole);
}

/** A body up to this size is told all its faults, a larger one the first 50: a fault costs a hundred times as much as its bytes. */
const TELLS_ALL_BYTES = 64 * 1024;
const FIRST_FAULTS = 50;

/** How far the faults of a part of a request are searched for. @param bytes the size of what was sent */
export function extentFor(bytes: number): Extent {
  return { maxTold: bytes <= TELLS_ALL_BYTES ? Infinity : FIRST_FAULTS, entersLongLists: false };
}

/**
 * The text of a 400 `invalid_request`: one `field: text` for each fault, joined by ` | ` (contract §7, decision 6).
 * @param whole names what was validated, for faults of it as a whole (`body: …`)
 */
export function validationMessage(faults: Fault[], whole: string, { maxTold }: Extent): string {
  return joinFaults(faultTexts(faults, whole), whole, maxTold);
}

/** The same of faults that are texts already. @param maxTold how many of them are listed */
export function joinFaults(texts: string[], whole: string, maxTold = Infinity): string {
  const listed = texts.slice(0, maxTold);
  if (texts.length > maxTold) {
    listed.push(`${whole}: and more faults; correct these first`);
  }
  return listed.join(' | ');
}

function faultTexts(faults: Fault[], whole: string): string[] {
  // A union reports each of its arms and then itself; a nullable field shall read as one fault.
  // A price that is neither text nor number is told by its own keyword.
  // A value of the wrong type is none of those that an enum allows either, and that says more.
  const ofEnums = new Set(faults.filter(({ keyword }) => keyword === 'enum').map(({ instancePath }) => instancePath));
  const isEcho = ({ keyword, params, instancePath }: Fault) =>
    keyword === 'anyOf' ||
    params['type'] === 'null' ||
    Array.isArray(params['type']) ||
    (keyword === 'type' && ofEnums.has(instancePath));
  const telling = faults.filter((fault) => !isEcho(fault));
  const byField = Map.groupBy(telling, (fault) => fieldOf(fault, whole));
  const texts = [...byField].map(([field, own]) => `${field}: ${[...new Set(own.map(textOf))].join(', ')}`);
  return texts.length === 0 ? [`${whole}: is not valid`] : texts;
}

function fieldOf(fault: Fault, whole: string): string {
  const path = fault.instancePath
    .split('/')
    .slice(1)
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~').slice(0, 80));
  if (fault.keyword === 'required') {
    path.push(String(fault.params['missingProperty']));
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
};

function textOf(fault: Fault): string {
  const params = fault.params;
  switch (fault.keyword) {
    case 'required':
      return 'is required';
    case 'type':
      return `must be ${ARTICLES[String(params['type'])] ?? String(params['type'])}`;
    case 'minimum':
      return `must be at least ${String(params['limit'])}`;
    case 'maximum':
      return `must be at most ${String(params['limit'])}`;
    case 'minLength':
      return params['limit'] === 1 ? 'must not be empty' : `must have at least ${String(params['limit'])} characters`;
    case 'maxLength':
      return `must have at most ${String(params['limit'])} characters`;
    case 'minItems':
      return `must have at least ${String(params['limit'])} ${params['limit'] === 1 ? 'entry' : 'entries'}`;
    case 'maxItems':
      return `must have at most ${String(params['limit'])} entries`;
    case 'minProperties':
      return `must have at least ${String(params['limit'])} ${params['limit'] === 1 ? 'field' : 'fields'}`;
    case 'enum':
      return `must be one of ${(params['allowedValues'] as unknown[]).map((value) => JSON.stringify(value)).join(', ')}`;
    case 'format':
      return `must be ${FORMATS[String(params['format'])] ?? `of the form ${String(params['format'])}`}`;
    case 'pattern':
      return patternText(String(params['pattern']));
    case PRICE_KEYWORD:
      return 'must be an amount from 0 to 99999999.99 with at most two decimals';
    default:
      return fault.message ?? 'is not valid';
  }
}

function patternText(pattern: string): string {
  return pattern.startsWith('^\\d{1,')
    ? 'must be a decimal text such as "12.50", with at most two decimals'
    : `must match ${pattern}`;
}
