import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const LITERAL_START = 'var standalone_default = "';
const LITERAL_END = '";\n';
/** The only escapes that the literal has; any other one is a fault, not a guess. */
const ESCAPED = new Map([
  ['n', '\n'],
  ['"', '"'],
  ['\\', '\\'],
]);
/** Names a file that is not there; browsers whose developer tools are open would ask for it. */
const SOURCE_MAP = '\n//# sourceMappingURL=';

/**
 * Scalar's script for the browser. Its package for servers has it only as a string of 4 MB in a module, which stays in memory once it is
 * imported; so it is read out of the module's text, as bytes, which leave nothing on the heap.
 */
export async function readScalarScript(): Promise<Buffer> {
  const module = await readFile(fileURLToPath(import.meta.resolve('@scalar/fastify-api-reference')));
  const start = module.indexOf(LITERAL_START) + LITERAL_START.length;
  const end = module.indexOf(LITERAL_END, start);
  if (start < LITERAL_START.length || end < 0) {
    throw new Error("Scalar's script is not where it is in the version this was written for");
  }
  const script = unescaped(module.subarray(start, end));
  const sourceMap = script.lastIndexOf(SOURCE_MAP);
  return sourceMap < 0 ? script : script.subarray(0, sourceMap);
}

/** What a string literal stands for. In UTF-8 no other character holds the byte of a backslash. */
function unescaped(literal: Buffer): Buffer {
  const text = Buffer.alloc(literal.length);
  let length = 0;
  let from = 0;
  for (let at = literal.indexOf('\\'); at >= 0; at = literal.indexOf('\\', from)) {
    const escape = literal.toString('latin1', at + 1, at + 2);
    const character = ESCAPED.get(escape);
    if (character === undefined) {
      throw new Error(`Scalar's script has an escape that is not known: \\${escape}`);
    }
    length += literal.copy(text, length, from, at);
    length += text.write(character, length);
    from = at + 2;
  }
  length += literal.copy(text, length, from);
  return text.subarray(0, length);
}
