import { KEY, RAW } from './hostile.ts';

export type Encoding = 'json' | 'form' | 'multipart';
/** Notation of nested values in a form (rule 5): `items[0][item_id]`, `items.0.item_id`, `items[0]item_id`, or JSON text in one field. */
export type FormStyle = 'brackets' | 'dots' | 'mixed' | 'json';

/** The value may contain lone surrogates and NUL. */
export function encode(value: unknown, encoding: Encoding, style: FormStyle): string {
  if (encoding === 'json') {
    return jsonOf(value);
  }
  const fields = fieldsOf(value, style);
  return encoding === 'form'
    ? fields.map(([name, text]) => `${percentEncoded(name)}=${percentEncoded(text)}`).join('&')
    : multipartOf(fields);
}

/** Returns a value as JSON, with the prefixes `RAW` and `KEY` for what no JavaScript value can express. */
export function jsonOf(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.map(jsonOf).join(',')}]`;
  }
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).map(([key, each]) => `${JSON.stringify(plainKey(key))}:${jsonOf(each)}`);
    return `{${members.join(',')}}`;
  }
  return typeof value === 'string' && value.startsWith(RAW) ? value.slice(RAW.length) : JSON.stringify(value);
}

/** Percent-encodes a text as UTF-8. A lone surrogate becomes the three bytes of U+D800, which are invalid in UTF-8. */
export function percentEncoded(text: string): string {
  const letters = Array.from(text, (letter) => (letter.isWellFormed() ? encodeURIComponent(letter) : '%ED%A0%80'));
  return letters.join('');
}

function plainKey(key: string): string {
  return key.startsWith(KEY) ? key.slice(KEY.length) : key;
}

type Field = [name: string, text: string];

function fieldsOf(value: unknown, style: FormStyle): Field[] {
  return typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, each]) => fieldsWithin(plainKey(name), each, style))
    : [['value', leafOf(value)]];
}

function fieldsWithin(name: string, value: unknown, style: FormStyle): Field[] {
  if (value === null) {
    // A form cannot express null. Every field that may be null is also optional.
    return [];
  }
  if (typeof value !== 'object') {
    return [[name, leafOf(value)]];
  }
  const entries = Object.entries(value);
  if (style === 'json' || entries.length === 0) {
    return [[name, jsonOf(value)]];
  }
  return entries.flatMap(([key, each]) => fieldsWithin(joined(name, plainKey(key), style), each, style));
}

function joined(name: string, key: string, style: FormStyle): string {
  if (style === 'dots') {
    return `${name}.${key}`;
  }
  return style === 'mixed' && name.endsWith(']') ? `${name}${key}` : `${name}[${key}]`;
}

/** Returns a scalar as text for a form, a path or a query. */
export function leafOf(value: unknown): string {
  return typeof value === 'string' ? value.replace(new RegExp(`^${RAW}`), '') : value === null ? '' : jsonOf(value);
}

function multipartOf(fields: Field[]): string {
  const parts = fields.map(([name, text]) => {
    const quoted = name.replaceAll(/[\\"]/g, '\\$&').replaceAll(/[\r\n]/g, ' ');
    return `--fuzz\r\nContent-Disposition: form-data; name="${quoted}"\r\n\r\n${text}\r\n`;
  });
  return `${parts.join('')}--fuzz--\r\n`;
}
