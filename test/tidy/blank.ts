/** Kind of a token in source text. A literal is a string, a template or a regular expression. */
type Kind = 'comment' | 'literal';

const TOKENS: [Kind, RegExp][] = [
  ['comment', /\/\/[^\n]*|\/\*[^]*?\*\//y],
  ['literal', /'(?:\\[^]|[^'\\\n])*'|"(?:\\[^]|[^"\\\n])*"/y],
  // A slash begins a regular expression if the text before it cannot be a value. After a value, the slash is the division operator.
  ['literal', /(?<=(?:^|[(,=:[!&|?{};>\n]|\breturn)\s*)\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y],
];
/**
 * Pattern of a piece of a template literal that has no `${…}` inside. A piece begins with the opening quote, or with the brace that closes
 * a `${…}`. It ends with the `${` that follows, or with the closing quote. The match includes these characters at both ends.
 */
const TEMPLATE_PART = /[`}](?:\\[^]|\$(?!\{)|[^`\\$])*(?:`|\$\{)/y;

/** Returns the source text with its comments replaced by spaces. */
export function blankComments(text: string): string {
  return blank(text, ['comment']);
}

/**
 * Returns the source text with spaces in place of comments and of the contents of strings, templates and regular
 * expressions.
 */
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

/**
 * Replaces each character of the token with a space, but keeps line breaks. A literal keeps its first and last character, so that it is
 * still a literal.
 */
function hollow(token: string, kind: Kind): string {
  if (kind === 'comment') return token.replace(/[^\n]/g, ' ');
  return token.replace(/(?<=[^])[^\n](?=[^])/g, ' ');
}

/**
 * Splits source text into tokens. Each comment and each literal is a token. Every other character is a token of its own, with the kind
 * null.
 */
function* tokens(text: string): Generator<[Kind | null, string]> {
  /**
   * Template expressions `${…}` that are still open, outermost first. Each number counts the braces that are open inside the expression.
   */
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
