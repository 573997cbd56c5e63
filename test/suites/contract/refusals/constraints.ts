import type { Schema } from '../../fuzz/operations.ts';
import { fits, LEFT_OUT, ListOf, misfits, UUID, type Path, variantOf } from './bodies.ts';

/** Keywords of the schemas beyond those that the fuzzer reads. */
interface Node extends Schema {
  exclusiveMaximum?: number;
  'x-trimmed'?: boolean;
}

/** A rule of a schema for the value at a path, with values that break it and values at its bound. */
export interface Constraint {
  /** Keyword and value of the rule, such as `maxLength 255`. */
  rule: string;
  path: Path;
  refused: unknown[];
  accepted: unknown[];
  /** True if the value may be a text. */
  takesText: boolean;
}

/** Rule that requires a field. */
export function requiredRule(path: Path): Constraint {
  return { rule: 'required', path, refused: [LEFT_OUT], accepted: [], takesText: false };
}

/** Rules of a schema that refuses fields that it does not name, for the whole value and for each object inside it. */
export function closedRules(schema: Schema, path: Path = []): Constraint[] {
  const { type, properties = {}, items } = variantOf(schema);
  const own = {
    rule: 'additionalProperties',
    path: [...path, 'no_such_field'],
    refused: ['x'],
    accepted: [],
    takesText: false,
  };
  return [
    ...(type === 'object' ? [own] : []),
    ...Object.entries(properties).flatMap(([name, each]) => closedRules(each, [...path, name])),
    ...(items === undefined ? [] : closedRules(items, [...path, '0'])),
  ];
}

/** Returns the rules for a value, and for all values inside it. */
export function constraintsOf(schema: Node, path: Path = []): Constraint[] {
  const variant: Node = variantOf(schema);
  const at = (rule: string, refused: unknown[], accepted: unknown[] = []) => ({
    rule,
    path,
    refused,
    accepted,
    takesText: typesOf(variant).includes('string'),
  });
  const inside = Object.entries(variant.properties ?? {}).flatMap(([name, each]) =>
    constraintsOf(each, [...path, name]),
  );
  const elements = variant.items === undefined ? [] : constraintsOf(variant.items, [...path, '0']);
  return [
    ...(path.length === 0
      ? []
      : [at(`type ${typesOf(variant).join()}`, wrongTypes(variant)), at('null', ...nullRule(schema))]),
    ...(variant.required ?? []).map((name) => requiredRule([...path, name])),
    ...(variant.minProperties === undefined ? [] : [at('minProperties', [{}])]),
    ...textRules(variant).map(([rule, refused, accepted]) => at(rule, refused, accepted)),
    ...numberRules(variant).map(([rule, refused, accepted]) => at(rule, refused, accepted)),
    ...listRules(variant).map(([rule, refused, accepted]) => at(rule, refused, accepted)),
    ...(variant.enum === undefined ? [] : [at('enum', misspelt(variant.enum), variant.enum)]),
    ...inside,
    ...elements,
  ].filter(({ refused, accepted }) => refused.length + accepted.length > 0);
}

type Rule = [rule: string, refused: unknown[], accepted: unknown[]];

const WRONG_TYPES: Record<string, unknown[]> = {
  string: [7, true, ['x'], { x: 'x' }],
  integer: ['seven', '1', '1.5', 1.5, true, ['1']],
  number: [true, ['1']],
  boolean: ['perhaps', 'TRUE', '1', 'true', 1, ['true']],
  array: ['x', 7, { x: 'x' }],
  object: ['x', 7, ['x']],
};

function typesOf({ type, enum: values = [] }: Node): string[] {
  return type === undefined ? values.map((value) => (value === null ? 'null' : typeof value)) : [type].flat();
}

function wrongTypes(schema: Node): unknown[] {
  const types = typesOf(schema).filter((type) => type !== 'null');
  const [type = ''] = types;
  return (types.includes('number') ? WRONG_TYPES['number'] : WRONG_TYPES[type]) ?? [];
}

/** Returns texts that are no value of an enum, although they look like one. */
function misspelt(values: unknown[]): unknown[] {
  const texts = ['no-such-value', '', String(values[0]).toUpperCase()];
  return texts.filter((text) => !values.includes(text));
}

function nullRule(schema: Node): [refused: unknown[], accepted: unknown[]] {
  const isNullable = typesOf(schema).includes('null') || schema.anyOf?.some(({ type }) => type === 'null') === true;
  return isNullable ? [[], [null]] : [[null], []];
}

function textRules(schema: Node): Rule[] {
  if (!typesOf(schema).includes('string') || schema.enum !== undefined) {
    return [];
  }
  const { minLength, maxLength, format, pattern } = schema;
  const rules: Rule[] = [['no U+0000', ['a\u0000b'], []]];
  if (minLength !== undefined) {
    const blank = schema['x-trimmed'] && minLength > 0 ? [' \t '] : [];
    rules.push([`minLength ${minLength}`, [textOf(schema, minLength - 1), ...blank], [textOf(schema, minLength)]]);
  }
  if (maxLength !== undefined) {
    rules.push([`maxLength ${maxLength}`, [textOf(schema, maxLength + 1)], [textOf(schema, maxLength)]]);
  }
  if (format !== undefined) {
    rules.push([`format ${format}`, ...(FORMATS[format] ?? unknownFormat(format))]);
  }
  if (pattern !== undefined && !schema['x-sold-amount']) {
    rules.push([`pattern ${pattern}`, misfits(schema), fits(schema)]);
  }
  return rules;
}

const FORMATS: Record<string, [refused: string[], accepted: string[]]> = {
  uuid: [['x', '', UUID.slice(1), `${UUID}0`, UUID.replaceAll('-', ''), `urn:uuid:${UUID}`], [UUID.toUpperCase()]],
  date: [
    ['x', '', '2031-02-29', '2031-1-1', '20310101', ' 2031-01-01', '0000-01-01', '2031-01-01T00:00:00Z'],
    ['2032-02-29'],
  ],
  'date-time': [
    [
      'x',
      '',
      '2031-01-01',
      '2031-01-01T00:00:00',
      '2031-02-30T00:00:00Z',
      '2016-12-31T23:59:60Z',
      '10000-01-01T00:00:00Z',
    ],
    ['2031-01-01T00:00:00.000+02:00'],
  ],
  uri: [
    [
      'x',
      '/x',
      'ftp://images.example/a',
      'file:///etc/passwd',
      'JavaScript://x/%0aalert(1)',
      'data:image/png;base64,AAAA',
      'https:a.example',
      'https:///a',
    ],
    ['https://images.example/a%20b.jpg?c=1'],
  ],
  email: [
    ['x', 'a@', '@x.example', 'a b@x.example', 'a@x.example, b@x.example', 'a@x.example\r\nBcc: b@x.example'],
    ['a+b@x.example'],
  ],
};

function unknownFormat(format: string): never {
  throw new Error(`FORMATS has no values for the format "${format}".`);
}

/**
 * Returns a text of this many characters that breaks no other rule of the schema. A free text consists of characters with two UTF-16 code
 * units and four bytes, because a length counts characters.
 */
function textOf({ format, pattern }: Node, length: number): string {
  if (length <= 0) {
    return '';
  }
  if (format === 'uri') {
    const host = 'https://images.example/';
    return length < host.length ? 'https://a'.slice(0, length) : host.padEnd(length, 'a');
  }
  if (format === 'email') {
    const host = '@x.example';
    return 'a'.repeat(length - host.length) + host;
  }
  return pattern === undefined ? '\u{1d11e}'.repeat(length) : 'en'.padEnd(length, '-abcdefgh');
}

function numberRules(schema: Node): Rule[] {
  const { minimum, maximum, exclusiveMaximum } = schema;
  const step = typesOf(schema).includes('number') ? 0.01 : 1;
  const rules: Rule[] = [];
  if (minimum !== undefined) {
    rules.push([`minimum ${minimum}`, [minimum - step], [minimum]]);
  }
  if (maximum !== undefined) {
    rules.push([`maximum ${maximum}`, [Number((maximum + step).toFixed(2))], [maximum]]);
  }
  if (exclusiveMaximum !== undefined) {
    rules.push([`exclusiveMaximum ${exclusiveMaximum}`, [exclusiveMaximum], [exclusiveMaximum - step]]);
  }
  return rules;
}

function listRules({ minItems, maxItems }: Node): Rule[] {
  const rules: Rule[] = [];
  if (minItems !== undefined && minItems > 0) {
    rules.push([`minItems ${minItems}`, [new ListOf(minItems - 1)], [new ListOf(minItems)]]);
  }
  if (maxItems !== undefined) {
    rules.push([`maxItems ${maxItems}`, [new ListOf(maxItems + 1)], [new ListOf(maxItems)]]);
  }
  return rules;
}
