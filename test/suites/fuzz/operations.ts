import { CONSOLE_HEADER } from '#access/sessions/console-cookie.ts';
import { compileSchema, type Validator } from '#platform/lib/validation.ts';
import { buildOpenApiDocuments } from '../../../scripts/openapi/openapi.ts';
import { closed, type DocumentedOperation, type OpenApiDocument, resolved } from '../../support/openapi-documents.ts';

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
  'x-sold-amount'?: boolean;
}

export interface Parameter {
  in: 'path' | 'query' | 'header';
  name: string;
  required: boolean;
  schema: Schema;
}

export interface Operation {
  id: string;
  method: string;
  /** For example `/orders/{id}/`. */
  path: string;
  /** Names of the security schemes of the first security requirement. */
  schemes: string[];
  parameters: Parameter[];
  isConsoleOnly: boolean;
  body: Schema | null;
  /** Validators of response bodies, by status. A validator refuses a field that the OpenAPI document does not name. */
  answers: Map<number, Validator>;
  hasCsv: boolean;
  emptyStatuses: ReadonlySet<number>;
}

/** Reads every operation from the OpenAPI documents, which are generated from the routes. So a new route is fuzzed too. */
export async function readOperations(): Promise<Operation[]> {
  const documents = Object.values(await buildOpenApiDocuments()) as OpenApiDocument[];
  return documents.flatMap((document) =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, documented]) =>
        toOperation(method.toUpperCase(), path, resolved(documented, document)),
      ),
    ),
  );
}

function toOperation(method: string, path: string, documented: DocumentedOperation): Operation {
  const answers = Object.entries(documented.responses).flatMap(([status, { content }]) => {
    const schema = (content?.['application/json'] ?? content?.['text/event-stream'])?.schema;
    return schema === undefined ? [] : [[Number(status), compileSchema(closed(schema))] as const];
  });
  return {
    id: documented.operationId,
    method,
    path,
    schemes: Object.keys(documented.security[0] ?? {}),
    parameters: (documented.parameters ?? []).filter((parameter) => parameter.in !== 'header'),
    isConsoleOnly: (documented.parameters ?? []).some(({ name }) => name === CONSOLE_HEADER),
    body: documented.requestBody?.content['application/json']?.schema ?? null,
    answers: new Map(answers),
    hasCsv: documented.responses['200']?.content?.['text/csv'] !== undefined,
    emptyStatuses: new Set(
      Object.entries(documented.responses).flatMap(([status, { content }]) =>
        content === undefined ? [Number(status)] : [],
      ),
    ),
  };
}
