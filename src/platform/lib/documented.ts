/**
 * The keyword of what the documents say of a value and its schema does not check. Code sees to it where the value comes in, with a
 * message of its own; in an answer a check would only cost time. The documents show its keywords as if they stood beside it
 * (tools/openapi).
 */
export const DOCUMENTED = 'x-documented';
