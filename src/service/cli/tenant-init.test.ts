import assert from 'node:assert/strict';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { cleanUp, newFolder, runCommand } from '#test/support/command.ts';
import { startService, type TestService } from '#test/support/service.ts';

describe('roomservice tenant init', () => {
  let service: TestService;
  let folder: string;
  let env: Record<string, string>;

  before(async () => {
    service = await startService();
    folder = await newFolder();
    env = { DATABASE_URL: service.database.url, MASTER_KEY: service.masterKey.toString('base64') };
  });
  after(async () => {
    await cleanUp();
    await service.close();
  });

  const passwordIn = (text: string) => /"password": "([\w-]{24})"/.exec(text)?.[1] ?? '';
  const apply = (file: string, ...flags: string[]) => runCommand(['tenant', 'apply', file, ...flags], { env });

  it('tenant apply accepts the document of tenant init unchanged; then the owner signs in, and a new credential reads menu and rooms', async () => {
    const file = join(folder, 'tenant.jsonc');
    const init = await runCommand(['tenant', 'init', file]);
    assert.deepEqual([init.code, init.stderr], [0, '']);
    const password = passwordIn(await readFile(file, 'utf8'));
    assert.notEqual(password, '');
    assert.match(init.stdout, /roomservice tenant apply \S+tenant\.jsonc"\.\n$/);
    assert.ok(!init.stdout.includes(password));
    assert.equal((await stat(file)).mode & 0o777, 0o600);

    const [applied, again] = [await apply(file, '--json'), await apply(file)];
    assert.equal(applied.code, 0, applied.stderr);
    assert.match(again.stdout, /^Tenant my-tenant \(\d+\) already matches /);

    const email = 'owner@my-tenant.example';
    const signedIn = await service.call('POST', '/v1/auth/token/', { json: { email, password } });
    assert.equal(signedIn.status, 200);
    const { access_token: token } = signedIn.body as { access_token: string };
    const issued = await service.call('POST', '/v1/third-party/credentials/', {
      headers: { authorization: `Bearer ${token}` },
      json: { name: 'First platform' },
    });
    assert.equal(issued.status, 201);
    const { api_key: key, api_secret: secret } = issued.body as { api_key: string; api_secret: string };
    const headers = { 'x-api-key': key, 'x-api-secret': secret };
    const [menu, rooms] = await Promise.all([
      service.call('GET', '/v1/third-party/menu/', { headers }),
      service.call('GET', '/v1/third-party/hotels/rooms/', { headers }),
    ]);
    assert.deepEqual(
      [menu, rooms].map(({ status, body }) => [status, (body as { name: string }[]).map(({ name }) => name)]),
      [
        [200, ['Margherita']],
        [200, ['Double']],
      ],
    );
  });

  it('tenant init without a file prints a tenant document with a new password each time, and tenant apply --dry-run accepts this document', async () => {
    const [first, second] = await Promise.all([runCommand(['tenant', 'init']), runCommand(['tenant', 'init'])]);
    assert.deepEqual([first.code, first.stderr], [0, '']);
    assert.notEqual(passwordIn(first.stdout), '');
    assert.notEqual(passwordIn(first.stdout), passwordIn(second.stdout));
    const file = join(folder, 'printed.jsonc');
    await writeFile(file, first.stdout.replaceAll('my-tenant', 'printed'));
    const { code, stdout, stderr } = await apply(file, '--dry-run');
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^Tenant printed does not match \S+ yet\./);
  });

  it('tenant init exits 1 with one line and changes nothing if the file exists, or if its folder is missing', async () => {
    const file = join(folder, 'mine.json');
    await writeFile(file, 'mine');
    const [existing, missing] = await Promise.all(
      [file, join(folder, 'absent', 'tenant.jsonc')].map((path) => runCommand(['tenant', 'init', path])),
    );
    assert.deepEqual([existing?.code, missing?.code], [1, 1]);
    assert.match(existing?.stderr ?? '', /^roomservice: \S+mine\.json exists already, and was not changed\. .+\n$/);
    assert.match(missing?.stderr ?? '', /^roomservice: \S+ cannot be written \(ENOENT\)\. .+\n$/);
    assert.equal(await readFile(file, 'utf8'), 'mine');
  });

  it('tenant apply names the line and the column of the first error of a file that is not JSON, and creates no tenant', async () => {
    const broken: [content: string, message: RegExp][] = [
      ['', /is not JSON: Value expected at line 1, column 1\.\n$/],
      ['{\n  // A comment\n  "slug": "a"\n  "name": "A"\n}', /Comma expected at line 4, column 3\.\n$/],
      ['{ "slug": "a" /* no end', /Unexpected end of comment at line 1, column 15\.\n$/],
      ["{\r\n  'slug': 1 }", /Invalid symbol at line 2, column 3\.\n$/],
      ['{ "features": [,] }', /Value expected at line 1, column 16\.\n$/],
      ['{} {}', /End of file expected at line 1, column 4\.\n$/],
    ];
    const ends = await Promise.all(
      broken.map(async ([content], index) => {
        const file = join(folder, `broken-${index}.jsonc`);
        await writeFile(file, content);
        return await apply(file);
      }),
    );
    for (const [index, { code, stdout, stderr }] of ends.entries()) {
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, /^roomservice: \S+broken-\d\.jsonc is .+\n$/);
      assert.match(stderr, broken[index]?.[1] ?? /never/);
    }
    const stored = await service.database.db.selectFrom('tenant').select('slug').execute();
    assert.ok(stored.every(({ slug }) => slug === 'my-tenant'));
  });
});
