import { CONSOLE_HEADER } from '#access/sessions/console-cookie.ts';
import type { Parameter, Schema } from '../../fuzz/operations.ts';
import { type OpenApiDocument, readDocuments, resolved } from '../../../support/openapi-documents.ts';

/** One operation of the OpenAPI documents in `contract/`. */
export interface Operation {
  id: string;
  method: string;
  path: string;
  parameters: Parameter[];
  isConsoleOnly: boolean;
  /** Schema of the body, or null if the operation takes none. */
  body: Schema | null;
  /** Largest body in bytes, as the documented refusal (413) says. 0 if there is none. */
  maxBodyBytes: number;
  /** Content types in which the operation takes its body. */
  contentTypes: string[];
  /** Statuses of the documented responses. */
  statuses: number[];
  /** Error codes of the documented examples of each refusal, by status. */
  codes: Map<number, string[]>;
}

/**
 * Reads the operations from `contract/`, and not from the routes. So a rule that is removed from a route but not from the contract is a
 * fault. `npm run check` compares the two.
 */
export function readOperations(): Operation[] {
  return readDocuments().flatMap(([, document]) =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => operationOf(document, path, method)),
    ),
  );
}

function operationOf(document: OpenApiDocument, path: string, method: string): Operation {
  const documented = resolved(document.paths[path]?.[method], document);
  if (documented === undefined) {
    throw new Error(`${method} ${path} is missing`);
  }
  const { operationId: id, parameters = [], requestBody, responses } = documented;
  const content = requestBody?.content ?? {};
  const codes = Object.entries(responses).map(([status, { content: answer }]) => {
    const examples = Object.values(answer?.['application/json']?.examples ?? {});
    return [Number(status), examples.map(({ value }) => String((value as { code?: string } | null)?.code))] as const;
  });
  return {
    id,
    method: method.toUpperCase(),
    path,
    parameters: parameters.filter((parameter): parameter is Parameter => parameter.in !== 'header'),
    isConsoleOnly: parameters.some(({ name }) => name === CONSOLE_HEADER),
    body: content['application/json'] === undefined ? null : withRequired(id, content['application/json'].schema),
    maxBodyBytes: maxBodyBytesOf(responses['413']),
    contentTypes: Object.keys(content),
    statuses: Object.keys(responses).map(Number),
    codes: new Map(codes),
  };
}

function maxBodyBytesOf(refusal: unknown): number {
  return Number(/is larger than (\d+) bytes/.exec(JSON.stringify(refusal ?? null))?.[1] ?? 0);
}

/** Fields that an operation requires from the caller of the test, although their schema does not. */
const REQUIRED: Record<string, string[]> = {
  // A session may also be exchanged for a token of an identity provider.
  startSession: ['email', 'password'],
};

function withRequired(id: string, schema: Schema): Schema {
  return REQUIRED[id] === undefined ? schema : { ...schema, required: REQUIRED[id] };
}
