/**
 * Command that messages tell the operator to type. A checkout has the sources (`.ts`), and there npx finds the command. The npm package has
 * compiled code (`.js`), and its installation puts the command on the PATH. With this package, npx would download a package of another
 * author that is also named `roomservice`.
 */
export const COMMAND = import.meta.filename.endsWith('.ts') ? 'npx roomservice' : 'roomservice';
