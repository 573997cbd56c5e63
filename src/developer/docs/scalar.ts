import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const LITERAL_START = 'var standalone_default = "';
const LITERAL_END = '";\n';
/** The service removes this line. Otherwise a browser with open developer tools would request the source map. */
const SOURCE_MAP = '\n//# sourceMappingURL=';

/**
 * Scalar's package for servers contains this script only as a string of 4 MB in a JavaScript module. If the service imported the module,
 * the string would stay in memory.
 */
export async function readScalarScript(): Promise<string> {
  const module = await readFile(fileURLToPath(import.meta.resolve('@scalar/fastify-api-reference')));
  const start = module.indexOf(LITERAL_START) + LITERAL_START.length;
  const end = module.indexOf(LITERAL_END, start);
  if (start < LITERAL_START.length || end < 0) {
    throw new Error(
      "Scalar's script is not where this version of the service expects it. Adapt readScalarScript to the installed version of Scalar.",
    );
  }
  // The literal has only the escapes \n, \" and \\.
  const script = module.toString('utf8', start, end).replace(/\\(.)/g, (_, escape) => (escape === 'n' ? '\n' : escape));
  const sourceMap = script.lastIndexOf(SOURCE_MAP);
  return sourceMap < 0 ? script : script.slice(0, sourceMap);
}
