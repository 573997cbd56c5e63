/** What the collection needs of an OpenAPI document. */
export interface Document {
  info: { title: string; version: string; description?: string };
  tags?: { name: string; description?: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { securitySchemes?: Record<string, SecurityScheme> };
}

export interface Operation {
  operationId: string;
  summary: string;
  description?: string;
  tags: string[];
  security?: Record<string, unknown>[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { examples?: Record<string, { value?: unknown }> }> };
  responses: Record<string, unknown>;
}

export interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  example?: unknown;
}

export type SecurityScheme =
  | { type: 'apiKey'; in: string; name: string; description?: string }
  | { type: 'http'; scheme: string; description?: string };

/** An operation with the place it stands at. */
export interface Endpoint {
  method: string;
  path: string;
  operation: Operation;
  document: Document;
}

/** Every operation of a document. */
export function endpointsOf(document: Document): Endpoint[] {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
      document,
    })),
  );
}

/** The names of the security schemes that an operation asks for, all of them at once. */
export function schemesOf({ security = [] }: Operation): string[] {
  return security.flatMap((schemes) => Object.keys(schemes));
}
