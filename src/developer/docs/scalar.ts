import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const LITERAL_START = 'var standalone_default = "';
const LITERAL_END = '";\n';
/**
 * Characters that may follow a backslash in the string literal with Scalar's script, and the characters that these escapes stand for. Any
 * other escape throws an error.
 */
const ESCAPED = new Map([
  ['n', '\n'],
  ['"', '"'],
  ['\\', '\\'],
]);
/**
 * Start of the line that names the source map. The line is removed, because a browser with open developer tools would request the map,
 * which the site does not serve.
 */
const SOURCE_MAP = '\n//# sourceMappingURL=';

/**
 * Reads Scalar's script for the browser. Scalar's package for servers contains the script only as a string of 4 MB in a module. An imported
 * module would stay in memory, so this function reads the file of the module as bytes, which do not stay on the heap.
 * @throws Error if the file does not have the form of the version that this function was written for
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
 * Replaces each escape of a string literal by the character that it stands for. Searching for the byte of a backslash is safe, because no
 * other UTF-8 character contains it.
 */
function unescaped(literal: Buffer): Buffer {
  const text = Buffer.alloc(literal.length);
  let length = 0;
  let from = 0;
  for (let at = literal.indexOf('\\'); at >= 0; at = literal.indexOf('\\', from)) {
    const escape = literal.toString('latin1', at + 1, at + 2);
    const character = ESCAPED.get(escape);
    if (character === undefined) {
      throw new Error(`Scalar's script contains the unknown escape \\${escape}. Add it to ESCAPED.`);
    }
    length += literal.copy(text, length, from, at);
    length += text.write(character, length);
    from = at + 2;
  }
  length += literal.copy(text, length, from);
  return text.subarray(0, length);
}
