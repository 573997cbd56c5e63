import Type from 'typebox';
import { DOCUMENTED } from './documented.ts';
import { MONEY_PATTERN } from './money.ts';

const exampleOf = (example: string | undefined) => (example === undefined ? {} : { examples: [example] });

/** Schemas of the fields of a document, a query or a response. Each has a description, and may have an example. */
export const text = (description: string, example?: string) => Type.String({ description, ...exampleOf(example) });
export const uuid = (description: string, example?: string) =>
  Type.String({ format: 'uuid', description, ...exampleOf(example) });
export const date = (description: string, example?: string) =>
  Type.String({ format: 'date', description, ...exampleOf(example) });
export const time = (description: string, example?: string) =>
  Type.String({ format: 'date-time', description, ...exampleOf(example) });
export const integer = (description: string) => Type.Integer({ description });
/** Largest value of a column of the type `integer`. */
export const MAX_INTEGER = 2_147_483_647;
export const integerFrom = (minimum: number, description: string) =>
  Type.Integer({ minimum, maximum: MAX_INTEGER, description });
export const boolean = (description: string) => Type.Boolean({ description });
export const orNull = <T extends Type.TSchema>(schema: T, description: string) =>
  Type.Union([schema, Type.Null()], { description });
export const textOrNull = (description: string) => orNull(Type.String(), description);
export const uuidOrNull = (description: string) => orNull(Type.String({ format: 'uuid' }), description);
export const timeOrNull = (description: string) => orNull(Type.String({ format: 'date-time' }), description);
/** Text with at most this number of characters. */
export const textUpTo = (
  maxLength: number,
  description: string,
  { example, ...options }: Type.TStringOptions & { example?: string } = {},
) => Type.String({ ...options, maxLength, description, ...exampleOf(example) });
/** Amount of money in a response. */
export const price = (description: string) => Type.String({ [DOCUMENTED]: { pattern: MONEY_PATTERN }, description });
/** Sum of amounts of money in a response. It may be larger than any single amount. */
export const sum = (description: string) =>
  Type.String({ [DOCUMENTED]: { pattern: String.raw`^\d+\.\d{2}$` }, description });
export const priceOrNull = (description: string) =>
  orNull(Type.String({ [DOCUMENTED]: { pattern: MONEY_PATTERN } }), description);
export const oneOf = <T extends string>(values: readonly T[], description: string, example?: T) =>
  Type.Enum([...values], { type: 'string', description, ...exampleOf(example) });
