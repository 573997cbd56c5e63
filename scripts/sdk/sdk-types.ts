import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { componentsOf, printDoc, printMembers, printSchema, type Schema, union } from './print-schema.ts';

interface Parameter {
  in: string;
  name: string;
  required?: boolean;
  description?: string;
  schema: Schema;
}

type Content = Record<string, { schema: Schema }>;

interface Operation {
  operationId: string;
  summary?: string;
  security?: Record<string, unknown>[];
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { content?: Content }>;
}

export interface Document {
  paths: Record<string, Record<string, Operation>>;
  components?: { schemas?: Record<string, Schema> };
}

interface Route {
  method: string;
  path: string;
  operation: Operation;
}

const REPOSITORY = join(import.meta.dirname, '..', '..');
const JSON_TYPE = 'application/json';
const HEADING =
  '/** `npm run generate` writes this file from the OpenAPI document with the same name in contract/. Do not edit it. */\n';

/**
 * Returns the code of a generated module of a client. The module has the types, the method and the path of each operation that accepts the
 * given security scheme, keyed by the operation id. For a session cookie, these are also the operations that start and end a session. The
 * module also has the types of the components that these operations use.
 */
export function clientTypes(document: Document, scheme: string): string {
  const routes = routesOf(document).filter(
    ({ path, operation }) =>
      operation.security?.some((requirement) => scheme in requirement) ||
      (scheme === 'sessionCookie' && path.startsWith('/v1/auth/')),
  );
  const schemas = document.components?.schemas ?? {};
  const components = reachable(routes.map(({ operation }) => typesOf(operation)).flatMap(componentsOf), schemas);
  const declarations = components.map((name) => printComponent(name, schemas[name] ?? {}));
  return format([HEADING, ...declarations, printOperations(routes), printRoutes(routes)].join('\n\n'));
}

function printOperations(routes: Route[]): string {
  const members = routes.map(({ operation }) => ({
    name: operation.operationId,
    isRequired: true,
    type: printOperation(operation),
    ...(operation.summary === undefined ? {} : { doc: operation.summary }),
  }));
  const doc = printDoc('Parameters, request body and response of each operation, by operation id.');
  return `${doc}export interface Operations ${printMembers(members)}`;
}

function printRoutes(routes: Route[]): string {
  const table = routes.map(({ method, path, operation }) => [operation.operationId, { method, path }]);
  const type = 'Record<keyof Operations, { method: string; path: string }>';
  const value = JSON.stringify(Object.fromEntries(table));
  return `${printDoc('Method and path of each operation.')}export const ROUTES: ${type} = ${value};`;
}

function routesOf({ paths }: Document): Route[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

/**
 * Returns the schemas that the types of an operation need: those of its parameters, its JSON request body and its successful JSON
 * responses.
 */
function typesOf({ parameters = [], requestBody, responses }: Operation): Schema[] {
  const bodies = requestBody === undefined ? [] : [requestBody.content[JSON_TYPE]?.schema];
  return [...parameters.map(({ schema }) => schema), ...bodies, ...answersOf(responses)].filter(
    (schema) => schema !== undefined,
  );
}

function answersOf(responses: Operation['responses']): Schema[] {
  return Object.entries(responses).flatMap(([status, { content }]) => {
    const schema = content?.[JSON_TYPE]?.schema;
    return status.startsWith('2') && schema !== undefined ? [schema] : [];
  });
}

function printOperation({ parameters = [], requestBody, responses }: Operation): string {
  const body = requestBody?.content[JSON_TYPE]?.schema;
  return printMembers([
    ...(['path', 'query'] as const).flatMap((place) =>
      printParameters(
        place,
        parameters.filter((parameter) => parameter.in === place),
      ),
    ),
    ...(body === undefined ? [] : [{ name: 'body', isRequired: true, type: printSchema(body) }]),
    { name: 'answer', isRequired: true, type: union(answersOf(responses).map(printSchema)) || 'null' },
  ]);
}

function printParameters(place: string, parameters: Parameter[]) {
  if (parameters.length === 0) return [];
  const members = parameters.map(({ name, required: isRequired = false, schema, description: doc }) => ({
    name,
    isRequired,
    type: printSchema(schema),
    ...(doc === undefined ? {} : { doc }),
  }));
  return [{ name: place, isRequired: members.some(({ isRequired }) => isRequired), type: printMembers(members) }];
}

function printComponent(name: string, schema: Schema): string {
  const type = printSchema(schema);
  const declaration = type.startsWith('{') ? `interface ${name} ${type}` : `type ${name} = ${type};`;
  return `${printDoc(schema.description)}export ${declaration}`;
}

/** Returns the given components and all components to which they refer, sorted by name. */
function reachable(names: string[], schemas: Record<string, Schema>, found = new Set<string>()): string[] {
  for (const name of names) {
    if (found.has(name)) continue;
    found.add(name);
    reachable(componentsOf(schemas[name]), schemas, found);
  }
  return [...found].sort();
}

function format(code: string): string {
  const biome = join(REPOSITORY, 'node_modules', '.bin', 'biome');
  const arguments_ = [biome, 'format', '--stdin-file-path=sdk/src/generated/types.ts'];
  const { status, stdout, stderr } = spawnSync(process.execPath, arguments_, {
    cwd: REPOSITORY,
    input: code,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`Biome could not format the generated types: ${stderr}`);
  return stdout;
}
