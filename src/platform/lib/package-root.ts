import { findPackageJSON } from 'node:module';
import { dirname } from 'node:path';

/** Folder of the package. The path of a module does not lead to it, because the bundle has fewer folders than the sources. */
export const PACKAGE_ROOT = dirname(findPackageJSON('..', import.meta.url) ?? '');
