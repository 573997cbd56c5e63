import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { it } from 'node:test';
import { SEND_ERRORS } from './send-error.ts';

it('the table of errors in the guide of webhooks has exactly the errors that an attempt may have', async () => {
  const guide = await readFile('docs/guides/webhooks.md', 'utf8');
  const [, table = ''] = guide.split('| `error` | what to check |\n|---|---|\n');
  const rows = table.split('\n\n', 1)[0]?.split('\n') ?? [];
  const explained = rows.flatMap((row) =>
    Array.from(row.split(' | ', 1)[0]?.matchAll(/`([^`]+)`/g) ?? [], ([, name]) => name),
  );
  assert.deepEqual(new Set(explained), new Set(SEND_ERRORS));
});
