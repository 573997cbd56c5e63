/**
 * Schema keyword that contains other keywords, which only the OpenAPI documents show. The validator ignores them. In requests, other code
 * checks these rules and gives its own error message. In responses, a check would only cost time. The generator of the documents
 * (tools/openapi) moves the inner keywords into the schema itself.
 */
export const DOCUMENTED = 'x-documented';
