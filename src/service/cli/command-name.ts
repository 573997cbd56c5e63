/**
 * Command that messages tell the operator to type. In a checkout, which has the sources, npx finds the command. The npm package has
 * compiled code and puts the command on the PATH. There, npx would download a package of another author with the name `roomservice`.
 */
export const COMMAND = import.meta.filename.endsWith('.ts') ? 'npx roomservice' : 'roomservice';
