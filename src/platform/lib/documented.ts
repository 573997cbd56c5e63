/**
 * Name of a keyword of a JSON schema. The keyword contains rules that only appear in the OpenAPI documents, for example `{ minimum: 0 }`.
 * The generator of the documents (tools/openapi) replaces the keyword by these rules. The validator of the service ignores the rules, for
 * two reasons:
 * - In a request, other code checks the rules and gives its own error message.
 * - In a response, a check would only cost time.
 */
export const DOCUMENTED = 'x-documented';
