import { isDeepStrictEqual } from 'node:util';
import { DOCUMENTED } from '#platform/lib/documented.ts';
import { IN_WORDS } from '#platform/lib/patterns.ts';

export interface Schema {
  readonly type?: unknown;
  readonly enum?: unknown;
  readonly title?: string;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly minProperties?: number;
  readonly [DOCUMENTED]?: object;
  readonly [IN_WORDS]?: string;
}

/** Keywords of JSON Schema whose value is one schema. */
const ONE = new Set(['items', 'additionalProperties', 'not']);
/** Keywords of JSON Schema whose value is a list of schemas. */
const LIST = new Set(['anyOf', 'allOf', 'oneOf', 'prefixItems']);
/** Keywords of JSON Schema whose value is an object of schemas, keyed by name. */
const BY_NAME = new Set(['properties', 'patternProperties']);

/** The components of one OpenAPI document. Each schema with a `title` becomes one component. */
export class Components {
  readonly #schemas = new Map<string, Schema>();

  /**
   * Returns the schema as the OpenAPI document shows it. Each schema with a title, even a nested one, becomes a component. In its place,
   * the result has a `$ref` to this component.
   * @throws Error if two different schemas have the same title
   */
  refer(schema: Schema): object {
    const { [DOCUMENTED]: documented, [IN_WORDS]: _words, ...checked } = schema;
    const shown: Schema = { ...mapParts(checked, (part) => this.refer(part)), ...documented };
    const { title } = shown;
    if (title === undefined) {
      return shown;
    }
    const known = this.#schemas.get(title);
    if (known !== undefined && !isDeepStrictEqual(known, shown)) {
      throw new Error(`Two different schemas have the title "${title}". Give one of them another title.`);
    }
    this.#schemas.set(title, shown);
    return { $ref: `#/components/schemas/${title}` };
  }

  byName(): Record<string, Schema> {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/** Returns a copy of the schema in which each direct subschema is replaced by the result of `replace`. */
function mapParts(schema: Schema, replace: (part: Schema) => object): object {
  return Object.fromEntries(
    Object.entries(schema).map(([keyword, value]) => [keyword, mapPart(keyword, value, replace)]),
  );
}

function mapPart(keyword: string, value: unknown, replace: (part: Schema) => object): unknown {
  if (ONE.has(keyword) && typeof value === 'object' && value !== null) {
    return replace(value);
  }
  if (LIST.has(keyword)) {
    return (value as Schema[]).map(replace);
  }
  if (BY_NAME.has(keyword)) {
    const parts = Object.entries(value as Record<string, Schema>);
    return Object.fromEntries(parts.map(([name, part]) => [name, replace(part)]));
  }
  return value;
}
