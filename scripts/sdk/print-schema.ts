export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  patternProperties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
}

const COMPONENT = /^#\/components\/schemas\/([A-Za-z]\w*)$/;
const SCALARS: Record<string, string> = {
  string: 'string',
  integer: 'number',
  number: 'number',
  boolean: 'boolean',
  null: 'null',
};

/**
 * Returns the TypeScript type of a schema. A reference to a component becomes the name of the component. Length limits and formats are
 * left out, because a TypeScript type cannot express them.
 */
export function printSchema(schema: Schema): string {
  if (schema.$ref !== undefined) return componentName(schema.$ref);
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return union(schema.enum.map((value) => JSON.stringify(value)));
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return union(choices.map(printSchema));
  if (schema.allOf !== undefined) return schema.allOf.map((part) => `(${printSchema(part)})`).join(' & ');
  if (Array.isArray(schema.type)) return union(schema.type.map((type) => printSchema({ ...schema, type })));
  if (schema.type === 'array') return `(${schema.items === undefined ? 'unknown' : printSchema(schema.items)})[]`;
  if (schema.type === 'object') return printObject(schema);
  return SCALARS[schema.type ?? ''] ?? 'unknown';
}

/** Returns the members of an object type or interface as TypeScript code, each with its description as a comment. */
export function printMembers(members: { name: string; isRequired: boolean; type: string; doc?: string }[]): string {
  const lines = members.map(
    ({ name, isRequired, type, doc }) => `${printDoc(doc)}${JSON.stringify(name)}${isRequired ? '' : '?'}: ${type};`,
  );
  return `{\n${lines.join('\n')}\n}`;
}

export function printDoc(text: string | undefined): string {
  if (text === undefined || text === '') return '';
  const lines = text
    .replaceAll('*/', '* /')
    .trim()
    .split(/\s*\n\s*/);
  return lines.length === 1 ? `/** ${lines[0]} */\n` : `/**\n${lines.map((line) => ` * ${line}\n`).join('')} */\n`;
}

export function union(types: string[]): string {
  return [...new Set(types)].join(' | ');
}

/** Returns the names of all components to which a schema refers, also in nested schemas. */
export function componentsOf(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, held]) =>
    key === '$ref' && typeof held === 'string' ? [componentName(held)] : componentsOf(held),
  );
}

function printObject({ properties, required = [], patternProperties, additionalProperties }: Schema): string {
  if (properties !== undefined) {
    return printMembers(
      Object.entries(properties).map(([name, schema]) => ({
        name,
        isRequired: required.includes(name),
        type: printSchema(schema),
        ...(schema.description === undefined ? {} : { doc: schema.description }),
      })),
    );
  }
  const values = Object.values(patternProperties ?? {});
  if (typeof additionalProperties === 'object') values.push(additionalProperties);
  return `Record<string, ${values.length === 0 ? 'unknown' : union(values.map(printSchema))}>`;
}

function componentName(reference: string): string {
  const name = COMPONENT.exec(reference)?.[1];
  if (name === undefined) throw new Error(`The reference ${reference} gives no valid name for a type.`);
  return name;
}
