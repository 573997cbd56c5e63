/**
 * Name of a keyword of a JSON schema. Its value is an object of rules for the OpenAPI documents, for example `{ minimum: 0 }`. The
 * generator of the documents (tools/openapi) replaces this keyword by its rules. The validator ignores the rules, for two reasons:
 * - In requests, other code checks the value and gives its own error message.
 * - In responses, a check would only cost time.
 */
export const DOCUMENTED = 'x-documented';
