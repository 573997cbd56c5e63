/** Keyword with rules that only the OpenAPI documents show, because other code checks them, or because a check would only cost time. */
export const DOCUMENTED = 'x-documented';
