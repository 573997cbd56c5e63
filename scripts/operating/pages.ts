import type { Command, Option } from 'commander';
import { type Setting, SETTINGS } from '#platform/settings.ts';
import { buildProgram } from '#service/cli/main.ts';
import { openTerminal } from '#service/cli/terminal.ts';

const SETTINGS_HEAD = ['| variable | default | meaning |', '|---|---|---|'];
const COMMANDS_HEAD = ['| command | what it does |', '|---|---|'];

/** Returns the text of docs/operating/settings.md with a new table, which is made from `SETTINGS`. */
export function withSettings(page: string): string {
  return withTable(page, SETTINGS_HEAD, SETTINGS.map(settingRow));
}

/** Returns the text of docs/operating/commands.md with a new table, which is made from the help of the commands. */
export function withCommands(page: string): string {
  const program = buildProgram({ environment: {}, terminal: openTerminal() });
  return withTable(
    page,
    COMMANDS_HEAD,
    program.commands.flatMap((command) => commandRows([], command)),
  );
}

function withTable(page: string, head: string[], rows: string[]): string {
  const lines = page.split('\n');
  const start = lines.indexOf(head[0] ?? '');
  const end = lines.indexOf('', start);
  if (start === -1 || end === -1) {
    throw new Error(`The page has no table that begins with "${head[0]}" and ends with an empty line.`);
  }
  return [...lines.slice(0, start), ...head, ...rows, ...lines.slice(end)].join('\n');
}

function settingRow({ name, default: value, otherwise = 'none', meaning, page, isSecret }: Setting): string {
  const names = isSecret ? `\`${name}\`, or \`${name}_FILE\`` : `\`${name}\``;
  const more = page === undefined ? '' : ` ([more](${page.replace('docs/operating/', '')}))`;
  return `| ${names} | ${value === null ? otherwise : `\`${value}\``} | ${meaning}${more} |`;
}

/** Returns the rows of a command and of its subcommands. A command that only groups others has no row of its own. */
function commandRows(groups: string[], command: Command): string[] {
  const path = [...groups, command.name()];
  const inner = command.commands.flatMap((each) => commandRows(path, each));
  if (inner.length > 0 && command.registeredArguments.length === 0) return inner;
  const args = command.registeredArguments.map((each) => (each.required ? `<${each.name()}>` : `[${each.name()}]`));
  const flags = command.options.map(({ flags: text, mandatory }) => (mandatory ? text : `[${text}]`));
  const options = command.options.filter(({ long }) => long !== '--json').map(optionText);
  const meaning = [`${capitalised(command.description())}.`, ...options].join('<br>');
  return [`| \`${[...path, ...args, ...flags].join(' ')}\` | ${meaning} |`, ...inner];
}

function optionText({ flags, description, argChoices }: Option): string {
  const choices = argChoices === undefined ? '' : ` (${argChoices.map((choice) => `\`${choice}\``).join(' or ')})`;
  return `\`${flags}\`: ${description}${choices}.`;
}

function capitalised(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
