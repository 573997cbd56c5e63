import { parse, type ParseError, printParseErrorCode } from 'jsonc-parser';
import { OperatorError } from '#platform/errors.ts';
import { MAX_DOCUMENT_BYTES } from '#platform/lib/bounds.ts';
import { readTextFile } from '#platform/lib/text-file.ts';

/**
 * Reads a tenant document from a file of JSON, which may have comments and a comma after the last entry of a list or an object.
 * @throws OperatorError if the file cannot be read, is too long, is not UTF-8 or is not JSON. The message gives the line and the column of the first error.
 */
export async function readTenantFile(file: string): Promise<unknown> {
  const text = await readTextFile(file, file, MAX_DOCUMENT_BYTES);
  const errors: ParseError[] = [];
  const document: unknown = parseNested(file, text, errors);
  const [first] = errors;
  if (first !== undefined) {
    throw new OperatorError(`${file} is not JSON: ${describe(first, text)}.`);
  }
  return document;
}

function parseNested(file: string, text: string, errors: ParseError[]): unknown {
  try {
    return parse(text, errors, { allowTrailingComma: true });
  } catch (error) {
    if (error instanceof RangeError) {
      // The parser calls itself for each level of nesting, so a file with many thousand levels causes a stack overflow.
      throw new OperatorError(`${file} is nested too deeply for a tenant document.`);
    }
    throw error;
  }
}

/** Describes an error of the parser, for example as "Comma expected at line 3, column 7". Lines and columns begin with 1. */
function describe({ error, offset }: ParseError, text: string): string {
  const lines = text.slice(0, offset).split('\n');
  const [first = '', ...words] = printParseErrorCode(error).split(/(?=[A-Z])/);
  const what = [first, ...words.map((word) => word.toLowerCase())].join(' ');
  return `${what} at line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
}
