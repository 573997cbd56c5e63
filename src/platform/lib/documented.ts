/**
 * Name of a schema keyword that contains other keywords for the OpenAPI documents. The validator ignores the inner keywords. For requests,
 * other code checks the rules of the inner keywords, and gives its own error message. For responses, a check of these rules would only cost
 * time. The generator of the documents (tools/openapi) moves the inner keywords into the schema itself.
 */
export const DOCUMENTED = 'x-documented';
