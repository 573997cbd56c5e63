import { type Setting, SETTINGS } from '#platform/settings.ts';

const HEAD = ['| variable | default | meaning |', '|---|---|---|'];

/** Returns the text of README.md with a new table of environment variables, which is made from `SETTINGS`. */
export function withSettingsTable(readme: string): string {
  const lines = readme.split('\n');
  const start = lines.indexOf(HEAD[0] ?? '');
  const end = lines.indexOf('', start);
  if (start === -1 || end === -1) {
    throw new Error(`README.md has no table that begins with "${HEAD[0]}" and ends with an empty line.`);
  }
  return [...lines.slice(0, start), ...HEAD, ...SETTINGS.map(rowOf), ...lines.slice(end)].join('\n');
}

function rowOf({ name, default: value, otherwise = 'none', meaning, page }: Setting): string {
  const more = page === undefined ? '' : ` ([more](${page}))`;
  return `| \`${name}\` | ${value === null ? otherwise : `\`${value}\``} | ${meaning}${more} |`;
}
