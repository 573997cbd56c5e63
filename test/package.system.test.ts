import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { cleanUp, newFolder, type Serving, startServingProgram, succeed } from '#test/support/command.ts';

const REPOSITORY = join(import.meta.dirname, '..');
const { version: VERSION } = JSON.parse(await readFile(join(REPOSITORY, 'package.json'), 'utf8')) as {
  version: string;
};
const run = promisify(execFile);

interface Demo {
  credential: { api_key: string; api_secret: string };
}

describe('the npm package', () => {
  let paths: string[];
  let serving: Serving;
  let demo: Demo;
  let options: { program: string; env: Record<string, string> };

  before(async () => {
    const folder = await newFolder();
    // Node refuses to run TypeScript in a folder `node_modules`. The package is unpacked into such a folder, so the test fails if the
    // package needs a TypeScript file. The test links the dependencies of this checkout and does not install them, because that takes
    // longer. .ci/run tests a real `npm install --global`.
    const target = join(folder, 'node_modules/@roomservice-hub/roomservice');
    await mkdir(target, { recursive: true });
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', folder], { cwd: REPOSITORY });
    const [packed] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[];
    assert.ok(packed);
    paths = packed.files.map((file) => file.path);
    const tarball = join(folder, `roomservice-hub-roomservice-${VERSION}.tgz`);
    await run('tar', ['-xzf', tarball, '--strip-components=1', '-C', target]);
    await symlink(join(REPOSITORY, 'node_modules'), join(target, 'node_modules'));
    options = { program: join(target, 'bin/roomservice.js'), env: { DATA_DIR: join(folder, 'data') } };
    serving = await startServingProgram(['--demo'], options);
    const { stdout: made } = await succeed(['demo', '--json'], options);
    demo = JSON.parse(made) as Demo;
  });

  after(cleanUp);

  const call = async (path: string, body?: string) => {
    const { api_key: key, api_secret: secret } = demo.credential;
    const headers = { 'x-api-key': key, 'x-api-secret': secret, 'content-type': 'application/json' };
    const response = await fetch(
      `${serving.url}${path}`,
      body === undefined ? { headers } : { method: 'POST', headers, body },
    );
    return { status: response.status, text: await response.text() };
  };

  test('the package contains only the allowed folders, the bundle without tests, and README, licence and package.json', () => {
    const allowed =
      /^(?:bin\/(?:roomservice|bundle)\.js|dist\/(?:[\w.-]+\.mjs(?:\.map)?|LICENSES\.txt)|console\/dist\/(?:index\.html|assets\/[\w.-]+\.(?:js|css|svg))|src\/developer\/docs\/assets\/\w+\.(?:js|css|svg)|migrations\/\d+_\w+\.sql|contract\/[\w-]+\.json|examples\/demo\/(?:tenant\.json|new-tenant\.jsonc)|docs\/(?:guides|operating)\/[\w-]+\.md|docs\/guides\/console\/\w+\.png|README\.md|LICENSE|package\.json)$/;
    assert.deepEqual(
      paths.filter((path) => !allowed.test(path) || path.includes('.test.')),
      [],
    );
    assert.ok(paths.includes('dist/main.mjs'));
    assert.ok(paths.includes('dist/menu-worker.mjs'));
  });

  test('the service of the package places an order, and checks a large body in a worker thread', async () => {
    const order = { external_order_id: 'packed', items: [{ item_id: 'STARTERS-PAPADOM', quantity: 2 }] };
    assert.equal((await call('/v1/third-party/orders/', JSON.stringify(order))).status, 201);
    const padded = JSON.stringify(order) + ' '.repeat(100_000);
    assert.equal((await call('/v1/third-party/orders/', padded)).status, 200);
  });

  test('the service of the package has the guides, the reference, their assets and the API documents', async () => {
    const pages = [
      '/docs/',
      '/docs/guides/quick-start/',
      '/docs/assets/site.css',
      '/console/',
      '/openapi/third-party.json',
      '/llms.txt',
    ];
    const responses = await Promise.all(pages.map(async (path) => [path, (await call(path)).status]));
    assert.deepEqual(
      responses,
      pages.map((path) => [path, 200]),
    );
  });

  test('the messages of the service name its commands without npx, because npx would run a package of an unknown author', async () => {
    await serving.prints(/"roomservice demo" issues new ones/);
    assert.doesNotMatch(serving.output(), /npx/);
  });
});
