/** Version of the SDK. A test checks that it equals the version in package.json. */
export const VERSION = '1.0.0';
