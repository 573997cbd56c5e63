import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { default as formats } from 'ajv-formats';

export interface OpenApiDocument {
  paths: Record<string, Record<string, DocumentedOperation>>;
  webhooks?: Record<string, { post: DocumentedOperation }>;
  components: Record<string, Record<string, object>>;
}

export interface DocumentedOperation {
  operationId: string;
  security: Record<string, unknown>[];
  parameters?: {
    in: 'path' | 'query' | 'header';
    name: string;
    required: boolean;
    schema: object;
    example?: unknown;
  }[];
  requestBody?: { content: Record<string, Content> };
  responses: Record<string, DocumentedAnswer>;
}

export interface Content {
  schema: object;
  examples?: Record<string, { value: unknown }>;
}

interface DocumentedAnswer {
  headers?: Record<string, { required?: boolean }>;
  content?: Record<string, Content>;
}

/** Returns a copy of a part of the document in which each `$ref` is replaced by the component to which it refers. */
export function resolved<T>(node: T, document: OpenApiDocument): T {
  if (Array.isArray(node)) {
    return node.map((each: unknown) => resolved(each, document)) as T;
  }
  if (typeof node !== 'object' || node === null) {
    return node;
  }
  if ('$ref' in node) {
    const [kind = '', name = ''] = String(node.$ref).split('/').slice(2);
    const found = document.components[kind]?.[name];
    assert.ok(found, `${String(node.$ref)} names a component that does not exist`);
    return resolved(found, document) as T;
  }
  return Object.fromEntries(Object.entries(node).map(([key, value]) => [key, resolved(value, document)])) as T;
}

/** Forbids additional fields in every object, so that an undocumented field fails validation. */
export function closed<T>(schema: T): T {
  if (Array.isArray(schema)) {
    return schema.map(closed) as T;
  }
  if (typeof schema !== 'object' || schema === null) {
    return schema;
  }
  const parts = Object.entries(schema).map(([keyword, value]) => [
    keyword,
    keyword === 'examples' || keyword === 'enum' ? value : closed(value as unknown),
  ]);
  const isObject = 'type' in schema && schema.type === 'object' && 'properties' in schema;
  return Object.fromEntries(isObject ? [['additionalProperties', false], ...parts] : parts) as T;
}

/** Returns the operation to which the method and the request target belong, or undefined if no operation matches. */
export function findOperation<T extends { method: string; path: string }>(
  operations: T[],
  method: string,
  target: string,
): T | undefined {
  const steps = stepsOf(target.split(/[?#]/, 1)[0] ?? '');
  const wanted = method === 'HEAD' ? 'GET' : method;
  return operations.find((operation) => operation.method === wanted && sameSteps(stepsOf(operation.path), steps));
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

interface Known {
  method: string;
  path: string;
  document: OpenApiDocument;
  operation: DocumentedOperation;
}

interface KnownAnswer {
  requiredHeaders: string[];
  /** Schemas of the body, by content type. Undefined if the response has no body. */
  content: Record<string, Content> | undefined;
}

/** Compiled response schemas, by the JSON of the whole schema. Most operations have the same error schemas, and each is compiled once. */
const validators = new Map<string, ValidateFunction>();
/** `validators`, by the schema as the document has it, with its references. */
const validatorOf = new WeakMap<object, ValidateFunction>();
const knownAnswers = new WeakMap<DocumentedAnswer, KnownAnswer>();

const ajv = new Ajv2020({ allErrors: true, strictSchema: false, strictTypes: false });
formats.default(ajv);

let operations: Known[] | null = null;

function knownOperations(): Known[] {
  operations ??= readDocuments().flatMap(([, document]) =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        document,
        operation,
      })),
    ),
  );
  return operations;
}

export function readDocuments(): [name: string, document: OpenApiDocument][] {
  const folder = join(import.meta.dirname, '..', '..', 'contract');
  const files = readdirSync(folder).filter((file) => file.endsWith('.json'));
  return files.map((file) => [file.replace('.json', ''), JSON.parse(readFileSync(join(folder, file), 'utf8'))]);
}

/** A response that was read to its end. `body` is the parsed JSON, or the text if the response has another content type. */
interface ReadAnswer {
  status: number;
  headers: Headers;
  text: string;
  body: unknown;
}

/** Statuses of the HTTP server, before it knows which operation is called. No document lists them. */
const OF_THE_SHELL = new Set([405, 408, 417, 431]);

/**
 * Asserts status, required headers, and a body without undocumented fields. Skips unknown paths, statuses `OF_THE_SHELL`, and 5xx but 503.
 */
export function assertDocumented(method: string, target: string, answer: ReadAnswer): void {
  const known = findOperation(knownOperations(), method, target);
  const { status } = answer;
  if (known === undefined || OF_THE_SHELL.has(status) || (status >= 500 && status !== 503)) {
    return;
  }
  const where = `${method} ${known.path} ${status}`;
  const documented = known.operation.responses[status];
  assert.ok(
    documented,
    `${where} is in no OpenAPI document (scripts/openapi makes them): ${answer.text.slice(0, 500)}`,
  );
  const { requiredHeaders, content } = knownAnswer(documented, known.document);
  for (const name of requiredHeaders) {
    assert.ok(answer.headers.has(name), `${where} comes without its header ${name}`);
  }
  if (method !== 'HEAD' && content !== undefined) {
    assertBody(where, known, content, answer);
  } else {
    assert.equal(answer.text, '', `${where} comes with a body`);
  }
}

function knownAnswer(documented: DocumentedAnswer, document: OpenApiDocument): KnownAnswer {
  let known = knownAnswers.get(documented);
  if (known === undefined) {
    const headers = Object.entries(resolved(documented.headers ?? {}, document));
    const requiredHeaders = headers.filter(([, { required }]) => required).map(([name]) => name);
    known = { requiredHeaders, content: documented.content };
    knownAnswers.set(documented, known);
  }
  return known;
}

function assertBody(where: string, known: Known, content: Record<string, Content>, answer: ReadAnswer): void {
  const type = answer.headers.get('content-type')?.split(';', 1)[0] ?? '';
  const schema = content[type]?.schema;
  assert.ok(schema, `${where} has the undocumented content type "${type}"`);
  const validate = validatorOf.get(schema) ?? compiled(closed(resolved(schema, known.document)));
  validatorOf.set(schema, validate);
  const isValid = validate(answer.body);
  assert.ok(
    isValid,
    `${where} does not fit the schema of its document: ${ajv.errorsText(validate.errors)}: ${answer.text.slice(0, 500)}`,
  );
}

function compiled(schema: object): ValidateFunction {
  const key = JSON.stringify(schema);
  const validate = validators.get(key) ?? ajv.compile(schema);
  validators.set(key, validate);
  return validate;
}
