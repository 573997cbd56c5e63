import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const LITERAL_START = 'var standalone_default = "';
const LITERAL_END = '";\n';
/**
 * Escapes that may be in the string literal that contains Scalar's script. The key is the character after the backslash, and the value is
 * the character that the escape means. For any other escape, `unescaped` throws an error.
 */
const ESCAPED = new Map([
  ['n', '\n'],
  ['"', '"'],
  ['\\', '\\'],
]);
/**
 * Start of the line that names the source map. The service removes the line. Otherwise a browser with open developer tools would request
 * the source map, which the site does not have.
 */
const SOURCE_MAP = '\n//# sourceMappingURL=';

/**
 * Reads the script of Scalar that runs in the browser. Scalar's package for servers contains this script only as a string of 4 MB in a
 * JavaScript module. If the service imported the module, the string would stay in memory. So this function reads the file of the module as
 * bytes, and takes the script out of it.
 * @throws Error if the script is not found in the file of the module, for example after an update of Scalar
 */
export async function readScalarScript(): Promise<Buffer> {
  const module = await readFile(fileURLToPath(import.meta.resolve('@scalar/fastify-api-reference')));
  const start = module.indexOf(LITERAL_START) + LITERAL_START.length;
  const end = module.indexOf(LITERAL_END, start);
  if (start < LITERAL_START.length || end < 0) {
    throw new Error(
      "Scalar's script is not where this version of the service expects it. Adapt readScalarScript to the installed version of Scalar.",
    );
  }
  const script = unescaped(module.subarray(start, end));
  const sourceMap = script.lastIndexOf(SOURCE_MAP);
  return sourceMap < 0 ? script : script.subarray(0, sourceMap);
}

/**
 * Replaces each escape of a string literal by its character. The function searches for the byte of a backslash. This is safe, because in
 * UTF-8 no other character contains this byte.
 */
function unescaped(literal: Buffer): Buffer {
  const text = Buffer.alloc(literal.length);
  let length = 0;
  let from = 0;
  for (let at = literal.indexOf('\\'); at >= 0; at = literal.indexOf('\\', from)) {
    const escape = literal.toString('latin1', at + 1, at + 2);
    const character = ESCAPED.get(escape);
    if (character === undefined) {
      throw new Error(
        `The script of Scalar contains the escape \\${escape}, which is not in the map ESCAPED. Add it to ESCAPED.`,
      );
    }
    length += literal.copy(text, length, from, at);
    length += text.write(character, length);
    from = at + 2;
  }
  length += literal.copy(text, length, from);
  return text.subarray(0, length);
}
