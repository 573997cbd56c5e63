/**
 * Tests that the guides are correct. The `sh run` blocks of a guide run one after another in one shell, as if a reader pasted them. If a
 * `json` or `text` block follows directly, it shows the expected output of the block before it. In a `json` block, `…` stands for omitted
 * parts.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { ERRORS } from '#platform/errors.ts';
import { cleanUp, newFolder, runCommand, type Serving, startServingProgram } from './support/command.ts';
import { type Block, differences, type Guide, parseGuide, readGuides } from './support/guides.ts';
import { newMigratedDataDir } from './support/migrated-data-dir.ts';

const REPOSITORY = join(import.meta.dirname, '..');
const TIMEOUT_MS = 600_000;
/**
 * All guides. quick-start.md comes first, because it places a restaurant order, and other guides show the events of this order.
 * The sequence of the other guides does not matter.
 */
const guides = readGuides().sort((a, b) => Number(b.name === 'quick-start.md') - Number(a.name === 'quick-start.md'));

function readContract(name: string): Map<string, Set<string>> {
  const text = readFileSync(join(REPOSITORY, 'contract', `${name}.json`), 'utf8');
  const { paths } = JSON.parse(text) as { paths: Record<string, object> };
  return new Map(Object.entries(paths).map(([path, methods]) => [path, new Set(Object.keys(methods))]));
}

describe('the commands of the guides', () => {
  let service: Serving;
  let environment: Record<string, string>;

  before(async () => {
    const env = { DATA_DIR: await newMigratedDataDir(), LOG_LEVEL: 'warn' };
    const { stdout } = await runCommand(['demo', '--json'], { env });
    const { owner, credential } = JSON.parse(stdout) as {
      owner: { password: string };
      credential: { api_key: string; api_secret: string };
    };
    // The service runs with `--only api`, because a worker would send deliveries to the example URLs of the guides. It runs without
    // `--demo`, because simulated staff would change the status of orders.
    service = await startServingProgram(['--only', 'api'], { env });
    environment = {
      PATH: process.env['PATH'] ?? '',
      BASE: service.url,
      KEY: credential.api_key,
      SECRET: credential.api_secret,
      PASSWORD: owner.password,
    };
  });

  after(async () => {
    service.kill('SIGTERM');
    await service.ended;
    await cleanUp();
  });

  /**
   * Runs the code blocks of a guide one after another in one shell.
   * @returns the output of each block
   */
  async function run(blocks: Block[]): Promise<string[]> {
    const folder = await newFolder();
    const script = blocks.map(({ code }, index) => `{\n${code}} > ${folder}/${index}\n`).join('');
    const { status, stderr } = spawnSync('sh', ['-e', '-c', script], {
      env: environment,
      encoding: 'utf8',
      timeout: TIMEOUT_MS,
    });
    const ran = blocks.findIndex((_block, index) => !existsSync(join(folder, String(index + 1))));
    assert.equal(status, 0, `the block at line ${blocks[ran]?.line} failed: ${stderr}`);
    return blocks.map((_block, index) => readFileSync(join(folder, String(index)), 'utf8'));
  }

  for (const { name, blocks } of guides) {
    const runnable = blocks.filter(({ info }) => info === 'sh run');
    if (runnable.length === 0) continue;
    test(`the commands in ${name} print the output that the guide shows`, async () => {
      const outputs = await run(runnable);
      for (const [index, block] of runnable.entries()) {
        const answer = blocks[blocks.indexOf(block) + 1];
        const where = `${name}, line ${block.line}`;
        const output = outputs[index] ?? '';
        if (answer?.info === 'json') {
          assert.deepEqual(differences(JSON.parse(answer.code), JSON.parse(output)), [], where);
        } else if (answer?.info === 'text') {
          assert.equal(output.trimEnd(), answer.code.trimEnd(), where);
        } else {
          assert.doesNotMatch(
            output,
            /"(?:code|message)":/,
            `${where}: the command printed an error that the guide does not show`,
          );
        }
      }
    });
  }
});

describe('the guides', () => {
  const byName = new Map(guides.map((guide) => [guide.name, guide]));

  test('each guide begins with a title and a paragraph, and has no second title', () => {
    for (const { name, text } of guides) {
      assert.match(text, /^# [^\n]+\n\n[A-Z][^\n]*(?:\n[^\n#`|-][^\n]*)*\n\n/, name);
      assert.equal(text.replaceAll(/^```.*?^```$/gms, '').match(/^# /gm)?.length, 1, name);
    }
  });

  test('each link in a guide leads to an existing guide or heading, an existing API document, a picture, or an RFC', () => {
    const broken = guides.flatMap((guide) => guide.links.filter((link) => !leadsSomewhere(guide, link)));
    assert.deepEqual(broken, []);
  });

  function leadsSomewhere(from: Guide, link: string): boolean {
    if (link.startsWith('https://www.rfc-editor.org/rfc/rfc')) return true;
    const document = /^\/openapi\/([a-z-]+\.json)$/.exec(link)?.[1];
    if (document !== undefined) return existsSync(join(REPOSITORY, 'contract', document));
    if (link.endsWith('.png')) return existsSync(join(REPOSITORY, 'docs/guides', link));
    const [file = '', anchor] = link.split('#');
    const target = file === '' ? from : byName.get(file);
    return target !== undefined && (anchor === undefined || target.anchors.has(anchor));
  }

  test('the guides name only paths and methods that the OpenAPI documents have', () => {
    const operations = new Map(['third-party', 'pms', 'staff'].flatMap((name) => [...readContract(name)]));
    const unknown = guides.flatMap(({ name, text }) =>
      [...text.matchAll(/(?:\b(GET|POST|PUT|PATCH|DELETE) )?(\/v1\/[\w/{}$.%-]*[\w/}])/g)]
        .filter(([, method, path = '']) => !isKnown(operations, path, method?.toLowerCase()))
        .map(([found]) => `${name}: ${found}`),
    );
    assert.deepEqual(unknown, []);
  });

  function isKnown(operations: Map<string, Set<string>>, path: string, method: string | undefined): boolean {
    const isOperation = [...operations].some(
      ([template, methods]) => isOf(template, path) && (method === undefined || methods.has(method)),
    );
    const isFolder = method === undefined && [...operations.keys()].some((template) => template.startsWith(path));
    return isOperation || isFolder;
  }

  /**
   * Returns true if the path matches the template. A parameter of the template, such as `{id}`, matches one segment with any text.
   */
  function isOf(template: string, path: string): boolean {
    const segments = path.split('/');
    const expected = template.split('/');
    return (
      segments.length === expected.length &&
      expected.every((segment, index) => segment.startsWith('{') || segment === segments[index])
    );
  }

  test('errors.md has a table row for every error code, with the status of the code', () => {
    const codes = Object.entries(ERRORS).map(([code, { status }]) => [code, String(status)]);
    const errors = byName.get('errors.md')?.text ?? '';
    for (const [code = '', status = ''] of [...codes, ['error', 'any 4xx']]) {
      assert.match(errors, new RegExp(`^\\| \`${code}\` \\| ${status} \\| [^|]+ \\| [^|]+ \\|$`, 'm'), code);
    }
  });

  test('errors.md has a table row for every status that can come from the HTTP server itself, such as 405 or 413', () => {
    const errors = byName.get('errors.md')?.text ?? '';
    for (const status of [400, 403, 404, 405, 408, 413, 415, 417, 431, 500, 503]) {
      assert.match(errors, new RegExp(`^\\| ${status} \\| [^|]+ \\| [^|]+ \\|$`, 'm'), String(status));
    }
  });
});

describe('the TypeScript of the guides', () => {
  /**
   * Declarations for the type check of the code blocks. Each code block is a separate file for the compiler. But a block may use a name
   * that an earlier block declares, or that the reader has to declare. Without these declarations, the compiler would refuse such a name.
   */
  const GLOBALS = `
    type Sdk = typeof import('@roomservice-hub/sdk');
    declare const BASE: string, KEY: string, SECRET: string, PMS_KEY: string, PMS_SECRET: string;
    declare const Roomservice: Sdk['Roomservice'];
    declare const roomservice: InstanceType<Sdk['Roomservice']>, pms: InstanceType<Sdk['RoomservicePms']>;
    declare const room: { room_type_id: string }, stay: Parameters<typeof roomservice.reservations.create>[0];
    declare const ratePlanId: string, storedCursor: string;
    declare function offerOtherDates(): void;`;
  const sdk = join(REPOSITORY, 'sdk/src/index.ts');
  const skip = existsSync(sdk) ? false : 'there is no SDK in this checkout';
  const configuration = {
    extends: join(REPOSITORY, 'tsconfig.json'),
    compilerOptions: {
      noUnusedLocals: false,
      noUncheckedIndexedAccess: false,
      typeRoots: [join(REPOSITORY, 'node_modules/@types')],
      paths: { '@roomservice-hub/sdk': [sdk] },
    },
    include: ['*'],
  };
  after(cleanUp);

  test('every TypeScript block of the guides compiles with the SDK', { skip }, async () => {
    const folder = await newFolder();
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(configuration));
    await writeFile(join(folder, 'globals.d.ts'), GLOBALS);
    for (const { name, blocks } of guides) {
      for (const { code, line } of blocks.filter(({ info }) => info === 'ts')) {
        await writeFile(join(folder, `${name}-line-${line}.mts`), `${code}\nexport {};\n`);
      }
    }
    const tsc = join(REPOSITORY, 'node_modules/.bin/tsc');
    const { status, stdout } = spawnSync(tsc, ['-p', folder], { encoding: 'utf8' });
    assert.equal(status, 0, stdout);
  });
});

describe('tools that compare a guide with the actual responses', () => {
  const id = '01a2003e-3154-7058-8f7a-602fab27ca42';

  test('parseGuide finds the code blocks, the anchors and the links of a guide', () => {
    const { blocks, anchors, links } = parseGuide('a.md', '# A b\n\n```sh run\ntrue\n```\n\n[x](b.md#c)\n');
    assert.deepEqual(blocks, [{ info: 'sh run', code: 'true\n', line: 3 }]);
    assert.deepEqual([[...anchors], links], [['a-b'], ['b.md#c']]);
  });

  for (const [shown, actual, count] of [
    [{ a: 1 }, { a: 1 }, 0],
    [{ a: 1 }, { a: 2 }, 1],
    [{ a: 1 }, { a: 1, b: 2 }, 1],
    [{ a: 1, b: 2 }, { a: 1 }, 1],
    [{ a: 1, '…': '…' }, { a: 1, b: 2 }, 0],
    [{ a: '…' }, { b: 2 }, 2],
    [[1], [1, 2], 1],
    [[1, '…'], [1, 2], 0],
    [[1, 2, '…'], [1], 1],
    ['rsk_…', 'rsk_abc', 0],
    ['rsk_…', 'rss_abc', 1],
    ['rsk_…', 'rsk_', 1],
    [id, id.replaceAll('0', 'f'), 0],
    [id, 'no id', 1],
    ['2026-11-21T22:36:08.065Z', '2030-01-01T00:00:00.000Z', 0],
    ['2026-11-21', '2026-11-22', 1],
    [null, {}, 1],
  ] as const) {
    test(`the guide check finds ${count} differences between ${JSON.stringify(shown)} in the guide and ${JSON.stringify(actual)} in the response`, () => {
      assert.equal(differences(shown, actual).length, count);
    });
  }
});
