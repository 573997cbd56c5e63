import { Ajv, type ValidateFunction } from 'ajv';
import { default as formats } from 'ajv-formats';
import { isUuid } from './ids.ts';
import { isPrice, PRICE_KEYWORD } from './price.ts';

/** A fault as the validator reports it. */
interface Fault {
  keyword: string;
  instancePath: string;
  params: Record<string, unknown>;
  message?: string;
}

const ajv = new Ajv({ allErrors: true, strict: false });
formats.default(ajv, ['uri', 'email', 'date', 'date-time']);
// The package's own takes `urn:uuid:` before it as well, which PostgreSQL does not.
ajv.addFormat('uuid', isUuid);
const isCalendarDay = ajv.formats['date'] as { validate: (text: string) => boolean };
// PostgreSQL knows no year 0.
ajv.addFormat('date', (text) => isCalendarDay.validate(text) && !text.startsWith('0000'));
ajv.addKeyword({ keyword: PRICE_KEYWORD, errors: false, validate: (_: unknown, value: unknown) => isPrice(value) });

/** A check of values against a JSON schema: strictly typed, nothing converted, filled in or left out (decision 5). */
export function compileSchema(schema: object): ValidateFunction {
  return ajv.compile(schema);
}

/** Every fault of a value, each as `path: text`; empty for a good one. */
export function findFaults(validate: ValidateFunction, value: unknown, whole: string): string[] {
  return validate(value) ? [] : faultTexts(validate.errors as Fault[], whole);
}

/** A body with a thousand faults is told of this many; the answer stays small whatever was sent. */
const MAX_FAULTS = 50;

/**
 * The text of a 400 `invalid_request`: one `field: text` for each fault, joined by ` | ` (contract §7, decision 6).
 * @param whole names what was validated, for faults of it as a whole (`body: …`)
 */
export function validationMessage(faults: Fault[], whole: string): string {
  return joinFaults(faultTexts(faults, whole), whole);
}

/** The same of faults that are texts already. */
export function joinFaults(texts: string[], whole: string): string {
  const listed = texts.slice(0, MAX_FAULTS);
  if (texts.length > MAX_FAULTS) {
    listed.push(`${whole}: and ${texts.length - MAX_FAULTS} more faults`);
  }
  return listed.join(' | ');
}

function faultTexts(faults: Fault[], whole: string): string[] {
  // A union reports each of its arms and then itself; a nullable field shall read as one fault.
  // A price that is neither text nor number is told by its own keyword.
  const isEcho = ({ keyword, params }: Fault) =>
    keyword === 'anyOf' || params['type'] === 'null' || Array.isArray(params['type']);
  const telling = faults.filter((fault) => !isEcho(fault));
  const texts = new Set(telling.map((fault) => `${fieldOf(fault, whole)}: ${textOf(fault)}`));
  return texts.size === 0 ? [`${whole}: is not valid`] : [...texts];
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
  uri: 'an absolute URL',
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
