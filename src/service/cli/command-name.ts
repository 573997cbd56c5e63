import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '#platform/lib/package-root.ts';

/**
 * Command that the operator must type, as messages show it. In a checkout, which has a lock file, npx finds the command. An installation of
 * the npm package puts the command on the PATH. Its messages do not show npx, because outside a checkout npx may download and run a package
 * of another author that is also named `roomservice`.
 */
export const COMMAND = existsSync(join(PACKAGE_ROOT, 'package-lock.json')) ? 'npx roomservice' : 'roomservice';
