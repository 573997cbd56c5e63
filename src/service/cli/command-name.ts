/**
 * Command that the operator must type, as messages show it. It depends on the installation:
 * - A checkout has the sources (`.ts`), and there npx finds the command.
 * - The npm package of this project has compiled code (`.js`), and its installation puts the command on the PATH. The messages do not show
 *   npx, because outside a checkout npx may download and run a package of another author that is also named `roomservice`.
 */
export const COMMAND = import.meta.filename.endsWith('.ts') ? 'npx roomservice' : 'roomservice';
