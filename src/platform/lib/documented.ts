/**
 * Name of a schema keyword that contains rules (other keywords) for the OpenAPI documents. The generator of the documents (tools/openapi)
 * moves these rules into the schema itself. The validator ignores the rules, for two reasons:
 * - In requests, other code checks the value and gives its own error message.
 * - In responses, a check would only cost time.
 */
export const DOCUMENTED = 'x-documented';
