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

export interface Endpoint {
  method: string;
  path: string;
  operation: Operation;
  document: Document;
}

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

/**
 * Returns the names of the security schemes that a call of an operation needs. The document may list several sets of schemes, and a call
 * needs all schemes of one set. The function returns the first set.
 */
export function schemesOf({ security: [first = {}] = [] }: Operation): string[] {
  return Object.keys(first);
}
