import assert from 'node:assert/strict';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { cleanUp, newFolder, refuse, runCommand, succeed } from '#test/support/command.ts';
import { signInForToken } from '#test/support/people.ts';
import { envOf, startService, type TestService } from '#test/support/service.ts';
import { OWNER_PASSWORD, sampleTenant } from '#test/support/tenants.ts';

let service: TestService;
let folder: string;
let env: Record<string, string>;
before(async () => {
  service = await startService();
  folder = await newFolder();
  env = envOf(service);
});
after(async () => {
  await cleanUp();
  await service.close();
});

async function fileOf(name: string, content: unknown): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const slugs = async () => (await service.database.db.selectFrom('tenant').select('slug').execute()).map((t) => t.slug);
const apply = (file: string, ...flags: string[]) => succeed(['tenant', 'apply', file, ...flags], { env });

describe('roomservice tenant init', () => {
  const passwordIn = (text: string) => /"password": "([\w-]{24})"/.exec(text)?.[1] ?? '';

  it('tenant apply accepts the document of tenant init unchanged; then the owner signs in, and a new credential reads menu and rooms', async () => {
    const file = join(folder, 'tenant.jsonc');
    const { stdout } = await succeed(['tenant', 'init', file]);
    const password = passwordIn(await readFile(file, 'utf8'));
    assert.notEqual(password, '');
    assert.match(stdout, /roomservice tenant apply \S+tenant\.jsonc"\.\n$/);
    assert.ok(!stdout.includes(password));
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const { tenant_id: id } = JSON.parse((await apply(file, '--json')).stdout);
    assert.match((await apply(file)).stdout, /^Tenant my-tenant \(\d+\) already matches /);

    const { body: session } = await signInForToken(service, 'owner@my-tenant.example', password);
    const owner = { authorization: `Bearer ${session.access_token}` };
    assert.equal((await service.call('GET', '/v1/staff/people/', { headers: owner })).status, 200);
    const { partner: headers } = await service.credential(id);
    for (const [path, name] of [
      ['/v1/third-party/menu/', 'Margherita'],
      ['/v1/third-party/hotels/rooms/', 'Double'],
    ] as const) {
      const { body } = await service.call('GET', path, { headers });
      assert.deepEqual(
        body.map((each: { name: string }) => each.name),
        [name],
      );
    }
  });

  it('tenant init without a file prints a tenant document with a new password each time, and tenant apply --dry-run accepts this document', async () => {
    const [first, second] = [await succeed(['tenant', 'init']), await succeed(['tenant', 'init'])];
    assert.notEqual(passwordIn(first.stdout), '');
    assert.notEqual(passwordIn(first.stdout), passwordIn(second.stdout));
    const file = await fileOf('printed.jsonc', first.stdout.replaceAll('my-tenant', 'printed'));
    assert.match((await apply(file, '--dry-run')).stdout, /^Tenant printed does not match \S+ yet\./);
  });

  it('tenant init exits 1 with one line and changes nothing if the file exists, or if its folder is missing', async () => {
    const file = await fileOf('mine.json', 'mine');
    await refuse(
      ['tenant', 'init', file],
      {},
      /^roomservice: \S+mine\.json exists already, and was not changed\. .+\n$/,
    );
    const missing = join(folder, 'absent', 'tenant.jsonc');
    await refuse(['tenant', 'init', missing], {}, /^roomservice: \S+ cannot be written \(ENOENT\)\. .+\n$/);
    assert.equal(await readFile(file, 'utf8'), 'mine');
  });
});

describe('roomservice tenant apply', () => {
  it('tenant apply --json creates the tenant and prints only its id, slug, users, properties and changes', async () => {
    const { stdout } = await apply(await fileOf('a.json', sampleTenant({ slug: 'house-a' })), '--json');
    const { tenant_id: id, changes, ...applied } = JSON.parse(stdout);
    assert.deepEqual(applied, {
      slug: 'house-a',
      users: [
        { email: 'owner@house-a.example', role: 'owner' },
        { email: 'staff@house-a.example', role: 'staff' },
      ],
      properties: [],
    });
    assert.ok(changes.length > 5);
    assert.ok(Number.isInteger(id));
    assert.equal((await signInForToken(service, 'owner@house-a.example', OWNER_PASSWORD)).status, 200);
  });

  it('tenant apply prints its changes as text and changes nothing if it runs again; tenant list shows the tenant once', async () => {
    const file = await fileOf('b.json', sampleTenant({ slug: 'house-b' }));
    const first = await apply(file);
    assert.match(
      first.stdout,
      /^Tenant house-b \(\d+\) now matches \S+\. These changes were made:\n( {2}.+ added\n)+$/,
    );
    assert.match(first.stdout, /^ {2}user "owner@house-b\.example" added$/m);
    const second = await apply(file);
    assert.match(second.stdout, /^Tenant house-b \(\d+\) already matches \S+\. Nothing was changed\.\n$/);
    const [text, json] = [
      await succeed(['tenant', 'list'], { env }),
      await succeed(['tenant', 'list', '--json'], { env }),
    ];
    assert.match(text.stdout, /^\d+\thouse-b\tHarbour House\trestaurant$/m);
    const listed = (JSON.parse(json.stdout) as { slug: string }[]).filter(({ slug }) => slug === 'house-b');
    assert.deepEqual(
      listed.map((each) => Object.keys(each)),
      [['id', 'slug', 'name', 'currency', 'timezone', 'features']],
    );
  });

  it('tenant apply refuses a file that is not UTF-8 and stores nothing, and skips a byte order mark', async () => {
    const text = JSON.stringify(sampleTenant({ slug: 'house-encoded', name: 'Chouriço & Cª' }));
    const file = await fileOf('encoded.json', '');
    for (const bytes of [Buffer.from(text, 'latin1'), Buffer.from(text, 'utf16le')]) {
      await writeFile(file, bytes);
      const message = /^roomservice: \S+encoded\.json is not UTF-8 text\. .+\n$/;
      await refuse(['tenant', 'apply', file], { env }, message);
    }
    assert.ok(!(await slugs()).includes('house-encoded'));
    await writeFile(file, `\uFEFF${text}`);
    await apply(file);
    const query = service.database.db.selectFrom('tenant').select('name').where('slug', '=', 'house-encoded');
    assert.equal((await query.executeTakeFirstOrThrow()).name, 'Chouriço & Cª');
  });

  it('tenant apply --dry-run exits 0, prints the changes as text or as JSON, and changes nothing', async () => {
    const document = sampleTenant({ slug: 'house-dry' });
    const file = await fileOf('dry.json', document);
    const dryRun = async (...flags: string[]) => (await apply(file, '--dry-run', ...flags)).stdout;
    assert.match(
      await dryRun(),
      /^Tenant house-dry does not match \S+ yet\. Nothing was changed\. .+:\n( {2}.+ added\n)+$/,
    );
    assert.equal((await slugs()).includes('house-dry'), false);
    await service.apply(document);
    assert.match(await dryRun(), /^Tenant house-dry \(\d+\) already matches \S+\. Nothing would be changed\.\n$/);
    const users = [{ ...document.users?.[0], password: 'a changed password' }];
    await writeFile(file, JSON.stringify({ ...document, name: 'Dry\u001b[2J House', users }));
    assert.deepEqual((await dryRun()).split('\n').slice(1), [
      '  tenant "house-dry" changed: name "Harbour House" → "Dry\\u001b[2J House"',
      '  user "owner@house-dry.example" changed: password',
      '  user "staff@house-dry.example" disabled',
      '',
    ]);
    const fields = [{ field: 'name', from: 'Harbour House', to: 'Dry\u001b[2J House' }];
    assert.deepEqual(JSON.parse(await dryRun('--json')), {
      slug: 'house-dry',
      dry_run: true,
      changes: [
        { what: 'tenant', name: 'house-dry', change: 'changed', fields },
        { what: 'user', name: 'owner@house-dry.example', change: 'changed', fields: [{ field: 'password' }] },
        { what: 'user', name: 'staff@house-dry.example', change: 'disabled', fields: [] },
      ],
    });
    assert.deepEqual((await service.apply(document)).changes, []);
  });

  it('tenant apply of an invalid file exits 1, names every fault on stderr, and creates no tenant', async () => {
    const bad = {
      ...sampleTenant({ slug: 'house-bad', currency: 'euro', timezone: '' }),
      users: [{ email: 'nobody', password: 'short', role: 'guest' }],
    };
    const { menu, ...rest } = sampleTenant({ slug: 'house-odd', timezone: 'Europe/Atlantis' });
    const dishes = menu?.dishes ?? [];
    const odd = {
      ...rest,
      menu: { ...menu, dishes: [...dishes, dishes[0], { ...dishes[1], sku: 'X', category: '?' }] },
    };
    const known = await slugs();
    for (const [document, paths] of [
      [bad, ['currency', 'timezone', 'users.0.email', 'users.0.password', 'users.0.role']],
      [odd, ['timezone', 'menu.dishes.3.sku', 'menu.dishes.4.category']],
    ] as const) {
      const { code, stdout, stderr } = await runCommand(['tenant', 'apply', await fileOf('bad.json', document)], {
        env,
      });
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, /^roomservice: /);
      for (const path of paths) {
        assert.match(stderr, new RegExp(`^ +${path.replaceAll('.', '\\.')}: \\S`, 'm'));
      }
    }
    assert.deepEqual(await slugs(), known);
  });

  it('tenant apply exits 1 with one line if the file is missing, is a folder, has more than 4 MiB or is not JSON, with the place of the first error', async () => {
    const known = await slugs();
    const isNotJson: [content: string, message: RegExp][] = [
      ['', /is not JSON: Value expected at line 1, column 1\.\n$/],
      ['{\n  // A comment\n  "slug": "a"\n  "name": "A"\n}', /Comma expected at line 4, column 3\.\n$/],
      ['{ "slug": "a" /* no end', /Unexpected end of comment at line 1, column 15\.\n$/],
      ["{\r\n  'slug': 1 }", /Invalid symbol at line 2, column 3\.\n$/],
      ['{} {}', /End of file expected at line 1, column 4\.\n$/],
    ];
    const broken = isNotJson.map(async ([content, message], index) => {
      return [await fileOf(`broken-${index}.jsonc`, content), message] as const;
    });
    for (const [file, message] of [
      [join(folder, 'absent.json'), /^roomservice: \S+absent\.json cannot be read \(ENOENT\)\. .+\n$/],
      [folder, /^roomservice: \S+ cannot be read \(EISDIR\)\. .+\n$/],
      [await fileOf('long.json', ' '.repeat(4 * 1024 * 1024 + 1)), /long\.json is longer than 4194304 bytes\. .+\n$/],
      ...(await Promise.all(broken)),
    ] as const) {
      await refuse(['tenant', 'apply', file], { env }, message);
    }
    assert.deepEqual(await slugs(), known);
  });

  it('tenant list escapes the characters of a name that control a terminal, so that each tenant stays one line of four fields', async () => {
    await service.apply(sampleTenant({ slug: 'house-odd-name', name: 'A\u001b[2J\tB\nC\u009bD\u202eE "F" ü' }));
    const { stdout } = await runCommand(['tenant', 'list'], { env });
    const line = stdout.split('\n').find((each) => each.includes('house-odd-name'));
    assert.deepEqual(line?.split('\t').slice(1), [
      'house-odd-name',
      'A\\u001b[2J\\u0009B\\u000aC\\u009bD\\u202eE "F" ü',
      'restaurant',
    ]);
  });
});
