import { KEY, RAW } from './hostile.ts';

export type Encoding = 'json' | 'form' | 'multipart';
/** How a form writes where a value belongs (decision 5); `json` keeps nested values as JSON in one field. */
export type FormStyle = 'brackets' | 'dots' | 'mixed' | 'json';

/** A value's text in one of the three encodings. Lone surrogates and NUL stand in it as each encoding can say them. */
export function encode(value: unknown, encoding: Encoding, style: FormStyle): string {
  if (encoding === 'json') {
    return jsonOf(value);
  }
  const fields = fieldsOf(value, style);
  return encoding === 'form'
    ? fields.map(([name, text]) => `${percentEncoded(name)}=${percentEncoded(text)}`).join('&')
    : multipartOf(fields);
}

/** JSON, with what `RAW` and `KEY` stand for. */
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

/** Percent-encoded UTF-8; a lone surrogate as the three bytes that UTF-8 does not allow. */
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
    // No text of a form means null; a field that may be null may as well be left out.
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
  // `items[0]item_id`
  return style === 'mixed' && name.endsWith(']') ? `${name}${key}` : `${name}[${key}]`;
}

/** A scalar as a form, a path or a query holds it. */
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
