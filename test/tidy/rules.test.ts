import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, test } from 'node:test';
import { barrels, machinePaths, outboundHttp, skippedTests, sqlOutsideStores, disabledRules } from './bans.ts';
import { blankComments, blankCommentsAndLiterals } from './blank.ts';
import { readDrawing } from './drawing.ts';
import { frontFilesOnly, importDirection, importsNotAsInTable, notAsDrawn, pathsOfImports } from './imports.ts';
import { lint } from './lint.ts';
import { decisionNotes } from './records.ts';
import { brokenLinks, unknownPages, unresolvedPaths, unresolvedReferences } from './references.ts';
import { sourceFile } from './source.ts';
import type { SourceFile } from './source.ts';
import { tablesReadFromAbove, tablesWithTwoWriters } from './tables.ts';

type Rule = (files: SourceFile[]) => string[];

/**
 * Asserts that the rule finds a fault in each file of `offenders`, and no fault in each file of `fine`. A file is a pair of its path and
 * its text.
 */
function separates(rule: Rule, cases: { offenders: [string, string][]; fine: [string, string][] }): void {
  for (const [path, text] of cases.offenders) {
    const [found = ''] = rule([sourceFile(path, text)]);
    assert.ok(found.startsWith(`${path}:`), `the rule found no fault in ${path}: ${text}`);
  }
  for (const [path, text] of cases.fine) {
    assert.deepEqual(rule([sourceFile(path, text)]), [], `the rule wrongly found a fault in ${path}: ${text}`);
  }
}

const DRAWING = readDrawing(
  [
    '```',
    '┌─ scripts/ ───────────────────┐',
    '│ openapi                      │',
    '├─ service/ ───────────────────┤',
    '│ app < cli                    │',
    '├─ restaurant/ ───┬─ hotel/ ───┤',
    '│ menu < orders   │ rooms      │',
    '│                 │ < rates    │',
    '│                 │ < channels, pms │',
    '├─ access/ ───────┴────────────┤',
    '│ credentials                  │',
    '├─ platform/ ──────────────────┤',
    '│ errors, lib < config < http  │',
    '└──────────────────────────────┘',
    '```',
  ].join('\n'),
);

describe('the diagram of folders and modules in ARCHITECTURE.md', () => {
  test('readDrawing reads the levels of the folders and of their modules from the diagram', () => {
    assert.deepEqual(DRAWING.floors, [['platform'], ['access'], ['restaurant', 'hotel'], ['service'], ['scripts']]);
    assert.deepEqual(DRAWING.rooms.get('hotel'), [['rooms'], ['rates'], ['channels', 'pms']]);
    assert.deepEqual(DRAWING.rooms.get('platform'), [['errors', 'lib'], ['config'], ['http']]);
  });

  test('notAsDrawn finds a module that is missing in the diagram, and a module in the diagram that does not exist', () => {
    const there = [...DRAWING.rooms].flatMap(([wing, ranks]) =>
      ranks
        .flat()
        .map((room) => sourceFile(wing === 'scripts' ? `scripts/${room}/a.ts` : `src/${wing}/${room}/a.ts`, '')),
    );
    assert.deepEqual(notAsDrawn(there, DRAWING), []);
    assert.match(notAsDrawn(there.slice(1), DRAWING).join(), /^scripts\/openapi is drawn .*, but does not exist$/);
    const undrawn = sourceFile('src/hotel/spa/spa.ts', '');
    assert.match(notAsDrawn([...there, undrawn], DRAWING).join(), /^hotel\/spa is not in the drawing/);
  });

  test('if the import table in docs/ARCHITECTURE.md lacks a row, lacks an import, or lists an import that the code does not have, importsNotAsInTable reports this fault', () => {
    const file = sourceFile('src/hotel/rates/rates.ts', "import { a } from '#platform/errors.ts';");
    assert.deepEqual(importsNotAsInTable([file], '| `hotel/` | stays | platform | – |'), []);
    assert.equal(importsNotAsInTable([file], '| `hotel/` | stays | – | – |').length, 1);
    assert.equal(importsNotAsInTable([file], '| `hotel/` | stays | platform, access | – |').length, 1);
    assert.equal(importsNotAsInTable([file], '').length, 1);
  });
});

describe('the rules on imports', () => {
  test('importDirection finds an import of a module above the importing module or on its level, and of a module not in the diagram', () => {
    separates((files) => importDirection(files, DRAWING), {
      offenders: [
        ['src/restaurant/menu/menu.ts', "import { placeOrder } from '../orders/orders.ts';"],
        ['src/restaurant/menu/menu.ts', "import type { Order } from '../orders/orders.ts';"],
        ['src/restaurant/menu/menu.ts', "import {\n  a,\n  type B,\n} from '#service/app.ts';"],
        ['src/restaurant/menu/menu.ts', "export { a } from '../orders/orders.ts';"],
        ['src/restaurant/menu/menu.ts', "const orders = await import('../orders/orders.ts');"],
        ['src/restaurant/menu/menu.ts', "let order: import('../orders/orders.ts').Order;"],
        ['src/restaurant/orders/orders.ts', "import { book } from '#hotel/rates/rates.ts';"],
        ['src/access/credentials/credentials.ts', "import { a } from '#hotel/rooms/rooms.ts';"],
        ['src/hotel/channels/channels.ts', "import { a } from '../pms/pms.ts';"],
        ['src/platform/lib/money.ts', "import '../config.ts';"],
        ['src/platform/http/list.ts', "import { Order } from '#restaurant/orders/orders.ts';"],
        ['src/service/app.ts', "import { document } from '../../scripts/openapi/openapi.ts';"],
        ['src/restaurant/orders/orders.ts', "import { a } from '../misc/misc.ts';"],
        ['src/misc/misc.ts', "import { a } from '#platform/errors.ts';"],
      ],
      fine: [
        ['src/restaurant/orders/orders.ts', "import { priceItems } from '../menu/menu.ts';\nimport pg from 'pg';"],
        ['src/restaurant/orders/orders.ts', "import { insertOrder } from './store.ts';"],
        ['src/restaurant/orders/orders.ts', "import { ApiError } from '#platform/errors.ts';"],
        ['src/restaurant/menu/menu.ts', "// import { a } from '../orders/orders.ts';"],
        ['scripts/openapi/openapi.ts', "import { createApp } from '#service/app.ts';"],
      ],
    });
  });

  test('if an import from another module does not use the file with the name of that module, frontFilesOnly reports the import, but src/service/ may import routes and guards', () => {
    separates(frontFilesOnly, {
      offenders: [
        ['src/restaurant/orders/orders.ts', "import { findDishes } from '../menu/store.ts';"],
        ['src/restaurant/orders/orders.ts', "import type { Menu } from '../menu/schema.ts';"],
        ['src/service/app.ts', "import { insertOrder } from '#restaurant/orders/store.ts';"],
        ['src/restaurant/orders/orders.ts', "import { menuRoutes } from '../menu/routes.ts';"],
        ['src/restaurant/orders/routes.ts', "import { menuRoutes } from '../menu/routes.ts';"],
        ['src/restaurant/orders/routes.ts', "import { callerGuard } from '#access/credentials/guard.ts';"],
      ],
      fine: [
        [
          'src/restaurant/orders/orders.ts',
          "import { findDishes } from '../menu/menu.ts';\nimport { ids } from '#platform/lib/ids.ts';",
        ],
        ['src/restaurant/orders/orders.ts', "import { ApiError } from '#platform/errors.ts';"],
        [
          'src/service/app.ts',
          "import { a } from '#restaurant/orders/staff-routes.ts';\nimport { b } from '#restaurant/menu/routes.ts';",
        ],
        ['src/service/app.ts', "import { callerGuard } from '#access/credentials/guard.ts';"],
        ['src/service/cli/serve.ts', "import { createApp } from '../app.ts';"],
      ],
    });
  });

  test('if an import uses an alias (#) for its own src/ folder, a relative path to another src/ folder, or a path two folders up that is not lib, pathsOfImports reports the import', () => {
    separates(pathsOfImports, {
      offenders: [
        ['src/platform/db/embedded/a.ts', "import { a } from '../../errors.ts';"],
        ['src/restaurant/orders/orders.ts', "import { a } from '#restaurant/menu/menu.ts';"],
        ['src/service/app.ts', "import { a } from '../hotel/hotel.ts';"],
      ],
      fine: [
        ['src/platform/db/embedded/a.ts', "import { a } from '../database.ts';"],
        ['src/platform/db/embedded/a.ts', "import { a } from '../../lib/dates.ts';"],
        ['src/hotel/rates/rates.ts', "import { a } from '../rooms/rooms.ts';"],
        ['src/hotel/rates/rates.ts', "import { a } from '#platform/errors.ts';"],
      ],
    });
  });
});

test('unresolvedPaths finds a path that a text names and that does not exist', () => {
  const there = new Set(['src/hotel/rates', 'src/hotel/rates/rates.ts', 'bin/roomservice.js']);
  const found = (text: string) => unresolvedPaths('a.md', text, ['hotel'], (path) => there.has(path));
  assert.deepEqual(found('`hotel/rates/`, `rates/rates.ts`, `src/hotel/rates/rates.ts`, `bin/roomservice.js`'), []);
  assert.deepEqual(found('`hotel/spa/` and `src/FOLDER/store.ts`'), ['a.md names hotel/spa/, which does not exist']);
  assert.equal(found('`rates/quote.ts`').length, 1);
});

describe('the bans on the source code', () => {
  test('sqlOutsideStores finds SQL outside of store.ts and *-store.ts, and imports of the database driver outside of platform/db and platform/copy', () => {
    separates(sqlOutsideStores, {
      offenders: [
        ['src/restaurant/orders/orders.ts', "db.selectFrom('dish')"],
        ['src/restaurant/orders/orders.ts', "await db\n  .deleteFrom('dish')"],
        ['src/restaurant/orders/orders.ts', 'await sql<{ id: string; at: Date }>`SELECT 1`.execute(db)'],
        ['src/restaurant/orders/orders.ts', "sql.raw('SELECT 1')"],
        ['src/restaurant/orders/orders.ts', 'await sql`SELECT 1`.execute(db)'],
        ['src/restaurant/orders/store.ts', "import pg from 'pg';"],
      ],
      fine: [
        ['src/restaurant/orders/store.ts', "db.selectFrom('dish'); await sql`SELECT 1`.execute(db)"],
        ['src/webhooks/deliveries/list-store.ts', "db.selectFrom('event')"],
        ['src/platform/db/health.ts', "import pg from 'pg'; sql`SELECT 1`"],
        ['src/restaurant/orders/orders.ts', '// like sql`SELECT 1`\nlog("use .selectFrom(dish)");'],
      ],
    });
  });

  test('tablesWithTwoWriters finds a table that two modules write, except the delivery table, which two modules may write', () => {
    const own = sourceFile(
      'src/restaurant/orders/store.ts',
      "db.insertInto('restaurant_order'); db.updateTable('restaurant_order')",
    );
    for (const text of [
      "db.insertInto('restaurant_order')",
      "db\n  .updateTable(\n 'restaurant_order as o')",
      "db.deleteFrom('restaurant_order')",
      'sql`UPDATE restaurant_order o SET status = ${status}`',
      'sql`INSERT INTO restaurant_order (id) VALUES (${id})`',
      'sql`DELETE FROM restaurant_order`',
    ]) {
      assert.equal(tablesWithTwoWriters([own, sourceFile('src/webhooks/deliveries/store.ts', text)]).length, 1, text);
    }
    const reading = sourceFile(
      'src/webhooks/deliveries/store.ts',
      "db.selectFrom('restaurant_order'); sql`SELECT 1 FROM restaurant_order FOR UPDATE SKIP LOCKED`; " +
        'sql`INSERT INTO event (id) VALUES (1) ON CONFLICT (id) DO UPDATE SET id = 1`',
    );
    assert.deepEqual(tablesWithTwoWriters([own, reading]), []);
    const writing = (path: string) => sourceFile(path, "db.updateTable('delivery')");
    const shared = ['events', 'deliveries'].map((room) => writing(`src/webhooks/${room}/store.ts`));
    assert.deepEqual(tablesWithTwoWriters(shared), []);
    assert.equal(tablesWithTwoWriters([...shared, writing('src/hotel/rates/store.ts')]).length, 1);
  });

  test('tablesReadFromAbove finds a read of a table by a module that is not above the module that writes the table', () => {
    const orders = sourceFile('src/restaurant/orders/store.ts', "db.insertInto('restaurant_order')");
    const credentials = sourceFile('src/access/credentials/store.ts', "db.insertInto('credential')");
    const found = (path: string, text: string) =>
      tablesReadFromAbove([orders, credentials, sourceFile(path, text)], DRAWING).length;
    for (const text of [
      "db.selectFrom('restaurant_order')",
      "db.selectFrom('rate').innerJoin(\n'restaurant_order as o', 'o.id', 'rate.id')",
      'sql`SELECT 1 FROM restaurant_order`',
      'sql`SELECT 1 FROM rate JOIN restaurant_order AS o ON true`',
    ]) {
      assert.equal(found('src/hotel/rates/store.ts', text), 1, text);
      assert.equal(found('src/platform/http/store.ts', text), 1, text);
      assert.equal(found('src/service/cli/store.ts', text), 0, text);
      assert.equal(found('src/restaurant/menu/store.ts', text), 1, text);
    }
    assert.equal(found('src/hotel/rates/store.ts', "db.selectFrom('credential')"), 0);
  });

  test('outboundHttp finds HTTP requests and TLS connections outside of the files that may make them', () => {
    separates(outboundHttp, {
      offenders: [
        ['src/restaurant/orders/orders.ts', "await fetch('https://example.com')"],
        ['src/restaurant/orders/orders.ts', 'await globalThis.fetch(url)'],
        ['src/restaurant/orders/orders.ts', "import { Agent } from 'undici';"],
        ['src/developer/listen/forward.ts', "import { request } from 'undici';"],
        ['src/webhooks/deliveries/attempt.ts', "import { connect as connectTls } from 'node:tls';"],
        ['src/restaurant/orders/orders.ts', "import https from 'node:https';"],
        ['src/restaurant/orders/orders.ts', "import { createServer, request } from 'node:http';"],
      ],
      fine: [
        ['src/webhooks/deliveries/vetting-connector.ts', "import { connect } from 'node:tls';"],
        ['src/platform/http/outgoing.ts', "import { request } from 'node:https';"],
        ['src/developer/listen/http.ts', "import { Agent } from 'node:https';"],
        ['src/platform/http/answers.ts', "import type { Agent, IncomingMessage } from 'node:http';"],
        ['src/platform/http/answers.ts', "import { STATUS_CODES, type Agent } from 'node:http';"],
        ['src/service/app.ts', "import { createServer } from 'node:http';\nawait this.store.fetch(id);"],
      ],
    });
  });

  test('the source checks report barrel files, tests with `only`, tests skipped without a reason, and lint rules disabled without a reason', () => {
    separates(barrels, {
      offenders: [
        ['src/restaurant/orders/index.ts', ''],
        ['src/restaurant/orders/orders.ts', "export * from './store.ts';"],
      ],
      fine: [['src/restaurant/orders/orders.ts', "export { a } from './store.ts';"]],
    });
    separates(skippedTests, {
      offenders: [
        ['src/a.test.ts', "test.only('a', () => {});"],
        ['src/a.test.ts', "describe('a', { only: true }, () => {});"],
        ['src/a.test.ts', "test('a', { skip: true }, () => {});"],
        ['src/a.test.ts', "test.skip('a', () => {});"],
        ['src/a.test.ts', 't.skip();'],
      ],
      fine: [
        ['src/a.test.ts', "test('a', { skip: isRoot ? 'root may enter everything' : false }, () => {});"],
        ['src/a.test.ts', "t.skip('no redis-server on PATH');"],
      ],
    });
    separates(disabledRules, {
      offenders: [['src/a.ts', '// oxlint-disable-next-line no-console\nconsole.log();']],
      fine: [['src/a.ts', '// oxlint-disable-next-line no-console -- the log is not up yet\nconsole.log();']],
    });
  });

  test('machinePaths finds an absolute path in the top folder work, root or home, but no URL and no relative path', () => {
    for (const folder of ['work', 'root', 'home']) {
      assert.equal(machinePaths('README.md', `See /${folder}/main/README.md`).length, 1, folder);
    }
    assert.deepEqual(machinePaths('README.md', 'https://example.com/home/ and ./work/ and /v1/third-party/'), []);
  });
});

test('blankComments blanks comments, and blankCommentsAndLiterals also blanks the contents of strings and other literals', () => {
  const cases: [string, string, string][] = [
    ['a("//"); // b', 'a("//");     ', 'a("  ");     '],
    ['a /* "\n */ + 1', 'a     \n    + 1', 'a     \n    + 1'],
    ['/["`/*]/.test(a) / 2 / b', '/["`/*]/.test(a) / 2 / b', '/      /.test(a) / 2 / b'],
    ['`x ${b({ c: `}` })} // ${d}`', '`x ${b({ c: `}` })} // ${d}`', '`   {b({ c: ` ` })}     {d}`'],
    ["'\\'//' //", "'\\'//'   ", "'    '   "],
  ];
  for (const [text, uncommented, code] of cases) {
    assert.equal(blankComments(text), uncommented);
    assert.equal(blankCommentsAndLiterals(text), code);
  }
});

test('unresolvedReferences finds a reference to an entry that does not exist, in every notation of a reference', () => {
  const textOf = () => '## 1. One\n### 1. One\n';
  const found = (text: string) => unresolvedReferences('src/a.ts', text, textOf).length;
  // The code joins the references from pieces, because the rule also checks this file. Otherwise it would report these references.
  const [rule, section, databaseRule] = ['rule', 'contract §', 'database rule'];
  assert.equal(found(`${rule} 1, PMS ${section}1, ${section}1, ${databaseRule} 1, a rule, two ${rule}s`), 0);
  for (const text of [`${rule} 2`, `${rule}s 1 and 2`, `${rule}s 1, 2`, `/**\n * (${rule}\n * 2) */`]) {
    assert.equal(found(text), 1, text);
  }
  assert.equal(found(`PMS ${section}2, ${section}2 and ${databaseRule}s 1 and 2`), 3);
});

test('decisionNotes finds two notes with one number, a note that is too long, and a missing row in the index', () => {
  const note = (name: string) => `docs/decisions/${name}.md`;
  const [first, second, again] = [note('0001-a'), note('0002-b'), note('0001-c')];
  const found = (notes: [string, string][]) => decisionNotes(notes, '(0001-a.md) (0001-c.md) (0002-b.md)').length;
  assert.equal(
    found([
      [first, '# A'],
      [second, '# B'],
    ]),
    0,
  );
  assert.equal(found([[second, '# B']]), 0, 'a gap');
  assert.equal(
    found([
      [first, '# A'],
      [again, '# C'],
    ]),
    1,
    'one number twice',
  );
  assert.equal(found([[first, 'A'.repeat(4_000)]]), 1, 'too long');
  assert.equal(decisionNotes([[first, '# A']], '').length, 1, 'no row');
});

test('brokenLinks finds links to files and headings that do not exist, but no links in code and none to other hosts', () => {
  const textOf = (path: string) => ({ 'docs/a.md': '# One\n## Two of `x`: three\n', docs: '' })[path] ?? null;
  const found = (text: string) => brokenLinks('docs/b.md', text, textOf).length;
  const [open, close] = ['](', ')'];
  for (const target of ['a.md', '../docs/', 'a.md#two-of-x-three', '#here', 'https://example.com/c.md', '/docs/']) {
    assert.equal(found(`# Here\n[x${open}${target}${close}`), 0, target);
  }
  for (const target of ['c.md', 'a.md#two', '#there']) {
    assert.equal(found(`# Here\n[x${open}${target}${close}`), 1, target);
    assert.equal(found(`# Here\n\`[x${open}${target}${close}\``), 0, target);
  }
});

test('unknownPages finds a page of docs/ that does not exist in a source file', () => {
  const page = ['docs', 'guides/limits.md'].join('/');
  assert.equal(unknownPages('src/a.ts', `// See ${page}.`, () => true).length, 0);
  assert.equal(unknownPages('src/a.ts', `// See ${page}.`, () => false).length, 1);
});

test('the linter reports type any, ts-ignore, console, process.env, import cycles, long files and functions, and wrong file names', () => {
  const folder = mkdtempSync(join(tmpdir(), 'roomservice-lint-'));
  try {
    cpSync(join(import.meta.dirname, '..', '..', '.oxlintrc.json'), join(folder, '.oxlintrc.json'));
    const offenders: Record<string, [string, string]> = {
      'src/restaurant/orders/any.ts': ['no-explicit-any', 'export const a = (b: any): unknown => b;'],
      'src/restaurant/orders/ignore.ts': ['ban-ts-comment', '// @ts-ignore\nexport const a = 1;'],
      'src/restaurant/orders/console.ts': ['no-console', "console.log('a');"],
      'src/restaurant/orders/env.ts': ['no-process-env', "export const a = process.env['A'];"],
      'src/restaurant/orders/one.ts': ['no-cycle', "import type { Two } from './two.ts';\nexport type One = Two | 1;"],
      'src/restaurant/orders/two.ts': ['no-cycle', "import type { One } from './one.ts';\nexport type Two = One[];"],
      'src/restaurant/orders/long.ts': ['max-lines', 'export {};\n'.repeat(401)],
      'src/restaurant/orders/tall.ts': ['max-lines-per-function', `export function a() {\n${'  a();\n'.repeat(71)}}`],
      'src/restaurant/orders/camelCase.ts': ['filename-case', 'export const a = 1;'],
    };
    for (const [path, [, text]] of Object.entries(offenders)) {
      mkdirSync(join(folder, dirname(path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const found = lint(folder);
    for (const [path, [rule]] of Object.entries(offenders)) {
      assert.ok(
        found.some((line) => line.startsWith(`${path}:`) && line.includes(rule)),
        `${rule} in ${path}\n${found.join('\n')}`,
      );
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
