import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, it } from 'node:test';
import { startService } from './support/service.ts';
import { OWNER_PASSWORD } from './support/tenants.ts';

const DOCS = join(import.meta.dirname, '../docs');
const page = await readFile(join(DOCS, 'operating/install.md'), 'utf8');

describe('docs/operating/install.md', () => {
  it('the commands of the first sign-in make a credential, which a partner can use', async (t) => {
    const service = await startService();
    t.after(() => service.close());
    const tenant = await service.tenant();
    const [, commands = ''] = /## The first sign-in.*?```sh\n(.*?)```/s.exec(page) ?? [];
    const shell = spawn('bash', ['-c', commands.replace(/^BASE=.*$/m, `BASE=${service.url}`)], { stdio: 'pipe' });
    shell.stdin.end(`${tenant.document.users?.[0]?.email}\n${OWNER_PASSWORD}\n`);
    const [output, errors] = await Promise.all([text(shell.stdout), text(shell.stderr), once(shell, 'close')]);
    assert.equal(errors, '');
    const { label, api_key, api_secret } = JSON.parse(output);
    assert.equal(label, 'City Delivery');
    const headers = { 'x-api-key': api_key, 'x-api-secret': api_secret };
    assert.equal((await service.call('GET', '/v1/third-party/menu/', { headers })).status, 200);
  });

  it('on each page for operators, a command that installs programs sets its own umask, and a umask is set only in a subshell', async () => {
    const operating = await readdir(join(DOCS, 'operating'));
    for (const name of operating) {
      const content = await readFile(join(DOCS, 'operating', name), 'utf8');
      const commands = [...content.matchAll(/```sh\n(.*?)```|`([^`\n]+)`/gs)].map(
        ([, block, inline]) => block ?? inline,
      );
      for (const command of commands) {
        for (const [line] of (command ?? '').matchAll(/^.*npm (?:install --global (?=[-.])|ci (?=[-&])).*$/gm)) {
          assert.match(line, /\(umask 022 &&/, `${name}: ${line}`);
        }
        for (const { index } of (command ?? '').matchAll(/umask \d/g)) {
          assert.ok(command?.slice(0, index).trimEnd().endsWith('('), `${name}: ${command}`);
        }
      }
    }
  });
});
