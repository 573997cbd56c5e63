/**
 * Schema keyword whose value holds other keywords that only the OpenAPI documents show. The validator does not check them. For a value
 * in a request, code checks the rule and gives its own message. For a value in a response, a check would only cost time. The documents
 * show the inner keywords as part of the schema itself (tools/openapi).
 */
export const DOCUMENTED = 'x-documented';
