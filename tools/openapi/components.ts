import { isDeepStrictEqual } from 'node:util';
import { DOCUMENTED } from '#platform/lib/documented.ts';

/** A JSON Schema as the routes have it, or as a document shows it: what is looked at here, and whatever else there is. */
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
}

/** Keywords under which schemas stand: one, a list of them, or one by each name. */
const ONE = new Set(['items', 'additionalProperties', 'not']);
const LIST = new Set(['anyOf', 'allOf', 'oneOf', 'prefixItems']);
const BY_NAME = new Set(['properties', 'patternProperties']);

/** The named schemas of one document: those that carry a `title`, each once. */
export class Components {
  readonly #schemas = new Map<string, Schema>();

  /**
   * The schema as it stands in the document: whatever in it carries a title is put among the components, and referred to.
   * @throws Error where two schemas of one title differ
   */
  refer(schema: Schema): object {
    const { [DOCUMENTED]: documented, ...checked } = schema;
    const shown: Schema = { ...mapParts(checked, (part) => this.refer(part)), ...documented };
    const { title } = shown;
    if (title === undefined) {
      return shown;
    }
    const known = this.#schemas.get(title);
    if (known !== undefined && !isDeepStrictEqual(known, shown)) {
      throw new Error(`two schemas that differ have the title "${title}"`);
    }
    this.#schemas.set(title, shown);
    return { $ref: `#/components/schemas/${title}` };
  }

  /** In the order of their names. */
  byName(): Record<string, Schema> {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/** A copy of the schema, with every schema that stands directly in it replaced. */
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
