/**
 * Way to call this command line, for messages. In a checkout, which has the sources, npx finds the command. The npm package has compiled
 * code and puts the command on the PATH. In this case npx would download a package of another author with the name `roomservice`.
 */
export const COMMAND = import.meta.filename.endsWith('.ts') ? 'npx roomservice' : 'roomservice';
