/** The one in package.json; a test holds them together. */
export const VERSION = '1.0.0';
