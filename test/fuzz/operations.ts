import type { ValidateFunction } from 'ajv';
import { compileSchema } from '../../src/lib/validation.ts';
import { buildOpenApiDocuments } from '../../src/openapi.ts';

/** As much of JSON Schema as the documents use. */
export interface Schema {
  type?: string | string[];
  enum?: unknown[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
  minProperties?: number;
  items?: Schema;
  minItems?: number;
  maxItems?: number;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  format?: string;
  pattern?: string;
  'x-price'?: boolean;
}

export interface Parameter {
  in: 'path' | 'query' | 'header';
  name: string;
  required: boolean;
  schema: Schema;
}

/** One route of the API, as its OpenAPI document tells of it. */
export interface Operation {
  id: string;
  method: string;
  /** With its parameters in braces. */
  path: string;
  /** Who may call it, by the document's security schemes; empty: whoever signs, or anybody. */
  schemes: string[];
  parameters: Parameter[];
  body: Schema | null;
  /** Checks an answer's body, by status; fields that the document does not name are faults. */
  answers: Map<number, ValidateFunction>;
}

interface DocumentedOperation {
  operationId: string;
  security?: Record<string, unknown>[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Schema }> };
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}

/** Every operation of the running app's OpenAPI documents: a new route is among them without a word here. */
export async function readOperations(): Promise<Operation[]> {
  const documents = Object.values(await buildOpenApiDocuments()) as {
    paths: Record<string, Record<string, DocumentedOperation>>;
  }[];
  return documents.flatMap(({ paths }) =>
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, documented]) => toOperation(method.toUpperCase(), path, documented)),
    ),
  );
}

/** The operation that a request line reaches, or undefined where there is none. */
export function findOperation(operations: Operation[], method: string, target: string): Operation | undefined {
  const steps = stepsOf(target.split(/[?#]/, 1)[0] ?? '');
  return operations.find(
    (operation) =>
      operation.method === (method === 'HEAD' ? 'GET' : method) && sameSteps(stepsOf(operation.path), steps),
  );
}

function stepsOf(path: string): string[] {
  return path.replace(/\/$/, '').split('/');
}

function sameSteps(pattern: string[], steps: string[]): boolean {
  const matches = (step: string, index: number) =>
    step.startsWith('{') ? steps[index] !== '' : step === percentDecoded(steps[index] ?? '');
  return pattern.length === steps.length && pattern.every(matches);
}

function percentDecoded(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}

function toOperation(method: string, path: string, documented: DocumentedOperation): Operation {
  const answers = Object.entries(documented.responses).flatMap(([status, { content }]) => {
    const schema = content?.['application/json']?.schema;
    return schema === undefined ? [] : [[Number(status), compileSchema(closed(schema))] as const];
  });
  return {
    id: documented.operationId,
    method,
    path,
    schemes: (documented.security ?? []).flatMap((scheme) => Object.keys(scheme)),
    parameters: documented.parameters ?? [],
    body: documented.requestBody?.content['application/json']?.schema ?? null,
    answers: new Map(answers),
  };
}

/** The schema, with every object that names its fields closed to others. */
function closed(schema: Schema): Schema {
  return {
    ...schema,
    ...(schema.anyOf && { anyOf: schema.anyOf.map(closed) }),
    ...(schema.items && { items: closed(schema.items) }),
    ...(schema.properties && {
      additionalProperties: schema.additionalProperties ?? false,
      properties: Object.fromEntries(Object.entries(schema.properties).map(([name, each]) => [name, closed(each)])),
    }),
  };
}
