import { offence } from './source.ts';

/** Tables whose keys need not begin with tenant_id, each with the reason. On a cluster, every node has a complete copy of such a table. */
const GLOBAL_TABLES: Record<string, string> = {
  tenant: 'its id is the tenant_id of all other tables',
  sign_in: 'finds the tenant of an e-mail address',
  pairing_code: 'finds the tenant of a pairing code',
  service_key: 'holds the keys of the service itself',
  recent_change: 'every node reads all its rows',
  feed_era: 'has one row, because a restore affects the whole database',
};
/** Indexes that need not begin with tenant_id, each with the reason. Their queries search all tenants. */
const CROSS_TENANT_INDEXES: Record<string, string> = {
  delivery_due_at: 'the poll of a worker searches the due deliveries of all tenants',
};

/** A part of an SQL file, and the position of its first character. */
interface Piece {
  text: string;
  index: number;
}

export function migrationNames(paths: string[]): string[] {
  return paths.toSorted().flatMap((path, position) => {
    const number = String(position + 1).padStart(4, '0');
    if (new RegExp(`^migrations/${number}_[a-z0-9]+(?:_[a-z0-9]+)*\\.sql$`).test(path)) return [];
    return [
      `${path}:1: The name of this migration must be ${number}_name.sql, because migrations are numbered without gaps.`,
    ];
  });
}

/**
 * Finds keys and indexes whose first column is not tenant_id. All keys begin with tenant_id, so that the tables can be distributed by
 * tenant.
 */
export function keysWithoutTenant(path: string, text: string): string[] {
  const sql = blankCommentsAndStrings(text);
  return split({ text: sql, index: 0 }, ';').flatMap((statement) =>
    faultsOf(statement).map(({ index, message }) => offence(path, text, index, message)),
  );
}

const NOT_DISTRIBUTABLE =
  /\bCREATE\s+(?:OR\s+REPLACE\s+)?(?:SEQUENCE|TRIGGER|FUNCTION|PROCEDURE|RULE)\b|\b(?:SMALL|BIG)?SERIAL\b/gi;

/** Matches a statement that adds a column with a constraint. A cluster wants two statements. */
const COLUMN_WITH_CONSTRAINT = /\bADD\s+COLUMN\b[^;]*\b(?:CHECK|UNIQUE|REFERENCES)\b/gi;

/** Finds SQL that a distributed database does not support, or supports only at a high cost. */
export function notDistributable(path: string, text: string): string[] {
  const sql = blankCommentsAndStrings(text);
  const find = (pattern: RegExp, message: string) =>
    [...sql.matchAll(pattern)].map((match) => offence(path, text, match.index, message));
  return [
    ...find(NOT_DISTRIBUTABLE, 'Migrations must not make sequences, triggers, rules or stored procedures.'),
    ...find(COLUMN_WITH_CONSTRAINT, 'A column must get its constraint by a statement of its own.'),
  ];
}

/**
 * Finds strings and comments that the migrator would read wrongly. It splits a file at each semicolon and removes the text after each `--`,
 * even inside a string.
 */
export function notSplittable(path: string, text: string): string[] {
  const message = 'A migration must not have a string with ; or --, a dollar quote, or a comment in /* */.';
  const tokens = text.matchAll(/--[^\n]*|'[^']*'|\$\w*\$|\/\*/g);
  return [...tokens]
    .filter(([token]) => !token.startsWith('--') && (!token.startsWith("'") || /;|--/.test(token)))
    .map((match) => offence(path, text, match.index, message));
}

/**
 * Patterns of SQL that a migration must not contain, each with a message. After a migration with such SQL, the previous version of the
 * service could not read or write. For example, DROP may remove a column that the previous version reads.
 */
const CONTRACTIONS: [RegExp, string][] = [
  [/\bDROP\b/gi, 'Migrations must not drop anything'],
  [/\bRENAME\b/gi, 'Migrations must not rename anything'],
  [
    /\bALTER\s+COLUMN\s+\w+\s+(?:SET\s+NOT\s+NULL|(?:SET\s+DATA\s+)?TYPE)\b/gi,
    'Migrations must not tighten or change a column',
  ],
  [
    /\bADD\s+COLUMN\s+(?:(?!\bDEFAULT\b)[^,;])*\bNOT\s+NULL\b(?![^,;]*\bDEFAULT\b)/gi,
    'A new column that is NOT NULL must have a default',
  ],
  [
    /\bADD\s+(?:CONSTRAINT|CHECK|UNIQUE|FOREIGN|PRIMARY)\b/gi,
    'Migrations must not add constraints to a table that exists',
  ],
  [/\b(?:DELETE\s+FROM|TRUNCATE)\b/gi, 'Migrations must not remove rows'],
];

/**
 * Finds SQL in a migration that makes the database unusable for the previous version of the service. While a new version is installed,
 * processes of the previous version still run, and an operator may install the previous version again.
 */
export function contractions(path: string, text: string): string[] {
  // A migration may replace a CHECK with a CHECK of the same name that accepts more values, for example a new status. This takes two
  // statements, DROP CONSTRAINT and then ADD CONSTRAINT. A cluster (Citus) would refuse ADD CONSTRAINT together with another change in one
  // statement. The code blanks both statements, so that the forbidden patterns (`CONTRACTIONS`) do not match them. A column that the file adds
  // may get a CHECK too. The CHECK must have the name of the table and the column.
  const sql = blankCommentsAndStrings(text)
    .replace(/\bALTER TABLE (\w+) DROP CONSTRAINT (\w+);\s*ALTER TABLE \1 ADD CONSTRAINT \2\s+CHECK\b/gi, (found) =>
      found.replace(/[^\n]/g, ' '),
    )
    .replace(
      /(?<=\bALTER TABLE (\w+) ADD COLUMN (\w+)\b[^;]*;\s*)ALTER TABLE \1 ADD CONSTRAINT \1_\2\s+CHECK\b/gi,
      (found) => found.replace(/[^\n]/g, ' '),
    );
  const because = 'because the previous version must run on the new schema.';
  const found = CONTRACTIONS.flatMap(([pattern, message]) =>
    [...sql.matchAll(pattern)].map((match) => offence(path, text, match.index, `${message}, ${because}`)),
  );
  const created = new Set([...sql.matchAll(/\bCREATE\s+TABLE\s+(\w+)/gi)].map(([, table]) => table));
  const unique = [...sql.matchAll(/\bCREATE\s+UNIQUE\s+INDEX\s+(?:IF\s+NOT\s+EXISTS\s+)?\w+\s+ON\s+(\w+)/gi)]
    .filter(([, table]) => !created.has(table))
    .map((match) => offence(path, text, match.index, 'An index of a table that exists must not be unique.'));
  return [...found, ...unique];
}

/**
 * Finds tables and indexes that this file names as exceptions, but that no migration creates. Such an exception could later hide a real
 * offence.
 */
export function unusedExceptions(allMigrations: string): string[] {
  return Object.keys({ ...GLOBAL_TABLES, ...CROSS_TENANT_INDEXES })
    .filter(
      (name) =>
        !new RegExp(`\\b(?:TABLE|INDEX)\\s+(?:CONCURRENTLY\\s+IF\\s+NOT\\s+EXISTS\\s+)?${name}\\b`).test(allMigrations),
    )
    .map(
      (name) => `${name} is an exception in test/tidy/migrations.ts, but no migration makes it. Remove the exception.`,
    );
}

interface Fault {
  index: number;
  message: string;
}

function faultsOf(statement: Piece): Fault[] {
  return /^\s*CREATE\s+(?:UNIQUE\s+)?INDEX\b/i.test(statement.text) ? indexFaults(statement) : tableFaults(statement);
}

function indexFaults(statement: Piece): Fault[] {
  const [, name = '', table = '', lead] = /(\w+)\s+ON\s+(?:ONLY\s+)?(\w+)[^(]*\(\s*(\w+)/i.exec(statement.text) ?? [];
  if (lead === 'tenant_id' || name in CROSS_TENANT_INDEXES || table in GLOBAL_TABLES) return [];
  return [{ index: beginOf(statement), message: `index ${name} must lead with tenant_id` }];
}

function tableFaults(statement: Piece): Fault[] {
  const head = /^\s*(CREATE|ALTER)\s+(?:UNLOGGED\s+)?TABLE\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+)?(?:ONLY\s+)?(\w+)[\s(]*/i;
  const [opening, verb = '', name = ''] = head.exec(statement.text) ?? [];
  if (opening === undefined) return [];
  const isNew = /CREATE/i.test(verb);
  const faults: Fault[] = [];
  if (isNew && !/\bPRIMARY\s+KEY\b/i.test(statement.text)) {
    faults.push({ index: beginOf(statement), message: `table ${name} has no primary key` });
  }
  if (name in GLOBAL_TABLES) return faults;
  const end = isNew ? statement.text.lastIndexOf(')') : statement.text.length;
  const definitions = { text: statement.text.slice(opening.length, end), index: statement.index + opening.length };
  return [...faults, ...split(definitions, ',').flatMap(definitionFaults)];
}

/**
 * Finds faults in the definition of one column or constraint. If the definition is from an ALTER TABLE, it begins with words such as ADD
 * COLUMN.
 */
function definitionFaults(definition: Piece): Fault[] {
  if (/\bAS\s+IDENTITY\b/i.test(definition.text)) {
    return [
      {
        index: beginOf(definition),
        message: 'The application makes ids. Only the table of tenants may use AS IDENTITY.',
      },
    ];
  }
  const ofTable = /\b(PRIMARY\s+KEY|UNIQUE|FOREIGN\s+KEY)(?:\s+NULLS\s+NOT\s+DISTINCT)?\s*\(\s*(\w+)/i;
  const ofColumn =
    /^\s*(?:ADD\s+(?:COLUMN\s+)?(?:IF\s+NOT\s+EXISTS\s+)?)?(\w+).*?\b(PRIMARY\s+KEY|UNIQUE|REFERENCES)\b/is;
  const tableKey = ofTable.exec(definition.text);
  const columnKey = ofColumn.exec(definition.text);
  const [kind, lead] = tableKey !== null ? [tableKey[1], tableKey[2]] : [columnKey?.[2], columnKey?.[1]];
  if (kind === undefined || lead === 'tenant_id') return [];
  return [{ index: beginOf(definition), message: `${kind.toUpperCase()} must lead with tenant_id, not ${lead}` }];
}

function beginOf({ text, index }: Piece): number {
  return index + text.search(/\S|$/);
}

/** Splits SQL text at each separator that is outside of parentheses. */
function split({ text, index }: Piece, separator: string): Piece[] {
  const pieces: Piece[] = [];
  let begin = 0;
  let depth = 0;
  for (let at = 0; at <= text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '(') depth += 1;
    if (character === ')') depth -= 1;
    if (at < text.length && (character !== separator || depth > 0)) continue;
    pieces.push({ text: text.slice(begin, at), index: index + begin });
    begin = at + 1;
  }
  return pieces;
}

function blankCommentsAndStrings(sql: string): string {
  return sql.replace(/--[^\n]*|\/\*[^]*?\*\/|'[^']*'/g, (token) => token.replace(/[^\n]/g, ' '));
}
