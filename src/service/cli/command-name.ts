/**
 * Command that messages tell the operator to type. A checkout has the sources (`.ts`), and there npx finds the command. The npm package of
 * this project has compiled code (`.js`), and its installation puts the command on the PATH. Outside a checkout, npx may download and run a
 * package of another author that is also named `roomservice`.
 */
export const COMMAND = import.meta.filename.endsWith('.ts') ? 'npx roomservice' : 'roomservice';
