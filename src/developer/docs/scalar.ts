import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const LITERAL_START = 'var standalone_default = "';
const LITERAL_END = '";\n';
/** Escapes in the string literal that contains Scalar's script: the character after the backslash, and its meaning. */
const ESCAPED = new Map([
  ['n', '\n'],
  ['"', '"'],
  ['\\', '\\'],
]);
/** The service removes this line. Otherwise a browser with open developer tools would request the source map. */
const SOURCE_MAP = '\n//# sourceMappingURL=';

/**
 * Scalar's package for servers contains this script only as a string of 4 MB in a JavaScript module. If the service imported the module,
 * the string would stay in memory.
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

/** Searching for the byte of a backslash is safe, because in UTF-8 no other character contains this byte. */
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
