/** What a token is, or null for a character that is none of these. */
type Kind = 'comment' | 'literal';

const TOKENS: [Kind, RegExp][] = [
  ['comment', /\/\/[^\n]*|\/\*[^]*?\*\//y],
  ['literal', /'(?:\\[^]|[^'\\\n])*'|"(?:\\[^]|[^"\\\n])*"/y],
  // A slash opens a regular expression where no value stands before it; otherwise it divides.
  ['literal', /(?<=(?:^|[(,=:[!&|?{};>\n]|\breturn)\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y],
];
/** A template from its opening quote, or from the brace that closes a hole in it, to the next hole or to its end. */
const TEMPLATE_PART = /[`}](?:\\[^]|\$(?!\{)|[^`\\$])*(?:`|\$\{)/y;

/** The text with its comments replaced by blanks. */
export function blankComments(text: string): string {
  return blank(text, ['comment']);
}

/** The text with its comments, and what stands inside strings, templates and regular expressions, replaced by blanks. */
export function blankCommentsAndLiterals(text: string): string {
  return blank(text, ['comment', 'literal']);
}

function blank(text: string, kinds: Kind[]): string {
  let result = '';
  for (const [kind, token] of tokens(text)) {
    result += kind !== null && kinds.includes(kind) ? hollow(token, kind) : token;
  }
  return result;
}

/** Blanks of the same length and lines; a literal keeps its first and last character, so that it stays visible as one. */
function hollow(token: string, kind: Kind): string {
  if (kind === 'comment') return token.replace(/[^\n]/g, ' ');
  return token.replace(/(?<=[^])[^\n](?=[^])/g, ' ');
}

function* tokens(text: string): Generator<[Kind | null, string]> {
  /** For each template hole that is open, how many braces are open inside it. */
  const holes: number[] = [];
  let index = 0;
  while (index < text.length) {
    const [kind, token] = nextToken(text, index, holes);
    yield [kind, token];
    index += token.length;
  }
}

function nextToken(text: string, index: number, holes: number[]): [Kind | null, string] {
  const character = text.charAt(index);
  if (character === '`' || (character === '}' && holes.at(-1) === 0)) {
    const part = matchAt(TEMPLATE_PART, text, index);
    if (part !== null) {
      if (character === '}') holes.pop();
      if (part.endsWith('${')) holes.push(0);
      return ['literal', part];
    }
  }
  for (const [kind, pattern] of TOKENS) {
    const token = matchAt(pattern, text, index);
    if (token !== null) return [kind, token];
  }
  if (holes.length > 0 && character === '{') holes.push((holes.pop() ?? 0) + 1);
  if (holes.length > 0 && character === '}') holes.push((holes.pop() ?? 0) - 1);
  return [null, character];
}

function matchAt(sticky: RegExp, text: string, index: number): string | null {
  sticky.lastIndex = index;
  return sticky.exec(text)?.[0] ?? null;
}
