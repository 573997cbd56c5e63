import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { cleanUp, newFolder, runCommand } from '#test/support/command.ts';
import { startService, type TestService } from '#test/support/service.ts';
import { OWNER_PASSWORD, sampleTenant } from '#test/support/tenants.ts';

describe('roomservice tenant', () => {
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

  async function fileOf(name: string, content: unknown): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
    return path;
  }

  const slugs = async () =>
    (await service.database.db.selectFrom('tenant').select('slug').execute()).map((t) => t.slug);

  it('tenant apply --json creates the tenant and prints only its id, slug, users, properties and changes', async () => {
    const file = await fileOf('a.json', sampleTenant({ slug: 'house-a' }));
    const { code, stdout, stderr } = await runCommand(['tenant', 'apply', file, '--json'], { env });
    assert.equal(code, 0, stderr);
    assert.equal(stderr, '');
    const applied = JSON.parse(stdout);
    assert.deepEqual(applied, {
      tenant_id: applied.tenant_id,
      slug: 'house-a',
      users: [
        { email: 'owner@house-a.example', role: 'owner' },
        { email: 'staff@house-a.example', role: 'staff' },
      ],
      properties: [],
      changes: applied.changes,
    });
    assert.ok(applied.changes.length > 5);
    assert.ok(Number.isInteger(applied.tenant_id));
    const signedIn = await service.call('POST', '/v1/auth/token/', {
      json: { email: 'owner@house-a.example', password: OWNER_PASSWORD },
    });
    assert.equal(signedIn.status, 200);
  });

  it('tenant apply prints its changes as text and changes nothing if it runs again; tenant list shows the tenant once', async () => {
    const file = await fileOf('b.json', sampleTenant({ slug: 'house-b' }));
    const first = await runCommand(['tenant', 'apply', file], { env });
    assert.equal(first.code, 0, first.stderr);
    assert.match(
      first.stdout,
      /^Tenant house-b \(\d+\) now matches \S+\. These changes were made:\n( {2}.+ added\n)+$/,
    );
    assert.match(first.stdout, /^ {2}user "owner@house-b\.example" added$/m);
    const second = await runCommand(['tenant', 'apply', file], { env });
    assert.match(second.stdout, /^Tenant house-b \(\d+\) already matches \S+\. Nothing was changed\.\n$/);
    const [text, json] = await Promise.all([
      runCommand(['tenant', 'list'], { env }),
      runCommand(['tenant', 'list', '--json'], { env }),
    ]);
    assert.match(text.stdout, /^\d+\thouse-b\tHarbour House\trestaurant$/m);
    const listed = (JSON.parse(json.stdout) as { slug: string }[]).filter(({ slug }) => slug === 'house-b');
    assert.equal(listed.length, 1);
    assert.deepEqual(Object.keys(listed[0] ?? {}), ['id', 'slug', 'name', 'currency', 'timezone', 'features']);
  });

  it('tenant apply refuses a file that is not UTF-8 and stores nothing, and skips a byte order mark', async () => {
    const text = JSON.stringify(sampleTenant({ slug: 'house-encoded', name: 'Chouriço & Cª' }));
    const file = await fileOf('encoded.json', '');
    for (const bytes of [Buffer.from(text, 'latin1'), Buffer.from(text, 'utf16le')]) {
      await writeFile(file, bytes);
      const { code, stdout, stderr } = await runCommand(['tenant', 'apply', file], { env });
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, /^roomservice: \S+encoded\.json is not UTF-8 text\. .+\n$/);
    }
    assert.ok(!(await slugs()).includes('house-encoded'));
    await writeFile(file, `\uFEFF${text}`);
    const { code, stderr } = await runCommand(['tenant', 'apply', file], { env });
    assert.equal(code, 0, stderr);
    const query = service.database.db.selectFrom('tenant').select('name').where('slug', '=', 'house-encoded');
    assert.equal((await query.executeTakeFirstOrThrow()).name, 'Chouriço & Cª');
  });

  it('tenant apply --dry-run exits 0, prints the changes as text or as JSON, and changes nothing', async () => {
    const document = sampleTenant({ slug: 'house-dry' });
    const file = await fileOf('dry.json', document);
    const dryRun = (...flags: string[]) => runCommand(['tenant', 'apply', file, '--dry-run', ...flags], { env });
    const ofNew = await dryRun();
    assert.equal(ofNew.code, 0, ofNew.stderr);
    assert.match(
      ofNew.stdout,
      /^Tenant house-dry does not match \S+ yet\. Nothing was changed\. .+:\n( {2}.+ added\n)+$/,
    );
    assert.equal((await slugs()).includes('house-dry'), false);
    await service.apply(document);
    const same = await dryRun();
    assert.match(same.stdout, /^Tenant house-dry \(\d+\) already matches \S+\. Nothing would be changed\.\n$/);
    const users = [{ ...document.users?.[0], password: 'a changed password' }];
    await writeFile(file, JSON.stringify({ ...document, name: 'Dry\u001b[2J House', users }));
    const [words, json] = await Promise.all([dryRun(), dryRun('--json')]);
    assert.deepEqual([words.code, json.code], [0, 0]);
    assert.deepEqual(words.stdout.split('\n').slice(1), [
      '  tenant "house-dry" changed: name "Harbour House" → "Dry\\u001b[2J House"',
      '  user "owner@house-dry.example" changed: password',
      '  user "staff@house-dry.example" disabled',
      '',
    ]);
    assert.deepEqual(JSON.parse(json.stdout), {
      slug: 'house-dry',
      dry_run: true,
      changes: [
        {
          what: 'tenant',
          name: 'house-dry',
          change: 'changed',
          fields: [{ field: 'name', from: 'Harbour House', to: 'Dry\u001b[2J House' }],
        },
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
    const known = await slugs();
    const { code, stdout, stderr } = await runCommand(['tenant', 'apply', await fileOf('bad.json', bad)], { env });
    assert.equal(code, 1);
    assert.equal(stdout, '');
    assert.match(stderr, /^roomservice: /);
    for (const path of ['currency', 'timezone', 'users.0.email', 'users.0.password', 'users.0.role']) {
      assert.match(stderr, new RegExp(`^ +${path}: \\S`, 'm'));
    }
    assert.deepEqual(await slugs(), known);
  });

  it('if a file has an unknown time zone, a repeated sku and an unknown category, tenant apply exits 1 and names all three', async () => {
    const { menu, ...rest } = sampleTenant({ slug: 'house-odd', timezone: 'Europe/Atlantis' });
    const dishes = menu?.dishes ?? [];
    const odd = {
      ...rest,
      menu: { ...menu, dishes: [...dishes, dishes[0], { ...dishes[1], sku: 'X', category: '?' }] },
    };
    const { code, stderr } = await runCommand(['tenant', 'apply', await fileOf('odd.json', odd)], { env });
    assert.equal(code, 1);
    for (const path of ['timezone', 'menu.dishes.3.sku', 'menu.dishes.4.category']) {
      assert.match(stderr, new RegExp(`^ +${path.replaceAll('.', '\\.')}: \\S`, 'm'));
    }
    assert.equal((await slugs()).includes('house-odd'), false);
  });

  it('tenant apply exits 1 with one line if the file is missing, is a folder, is not JSON or has more than 4 MiB', async () => {
    const broken = await fileOf('broken.json', '{"slug": ');
    const long = await fileOf('long.json', ' '.repeat(4 * 1024 * 1024 + 1));
    const ends = [join(folder, 'absent.json'), folder, broken, long].map((file) =>
      runCommand(['tenant', 'apply', file], { env }),
    );
    const [absent, directory, notJson, tooLong] = await Promise.all(ends);
    assert.deepEqual([absent?.code, directory?.code, notJson?.code, tooLong?.code], [1, 1, 1, 1]);
    assert.match(absent?.stderr ?? '', /^roomservice: \S+absent\.json cannot be read \(ENOENT\)\. .+\n$/);
    assert.match(directory?.stderr ?? '', /^roomservice: \S+ cannot be read \(EISDIR\)\. .+\n$/);
    assert.match(notJson?.stderr ?? '', /^roomservice: \S+broken\.json is not JSON: .+\n$/);
    assert.match(tooLong?.stderr ?? '', /^roomservice: \S+long\.json is longer than 4194304 bytes\. .+\n$/);
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
