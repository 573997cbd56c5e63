import { compileSchema, type Validator } from '#platform/lib/validation.ts';
import { buildOpenApiDocuments } from '../../tools/openapi/openapi.ts';
import { closed, type DocumentedOperation, type OpenApiDocument, resolved } from '../support/openapi-documents.ts';

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
  answers: Map<number, Validator>;
}

/** Every operation of the running app's OpenAPI documents: a new route is among them without a word here. */
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
    const schema = content?.['application/json']?.schema;
    return schema === undefined ? [] : [[Number(status), compileSchema(closed(schema))] as const];
  });
  return {
    id: documented.operationId,
    method,
    path,
    schemes: documented.security.flatMap((scheme) => Object.keys(scheme)),
    parameters: (documented.parameters ?? []).filter((parameter) => parameter.in !== 'header'),
    body: documented.requestBody?.content['application/json']?.schema ?? null,
    answers: new Map(answers),
  };
}
