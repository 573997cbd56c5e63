import assert from 'node:assert/strict';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { findStateDir } from './state-dir.ts';

it('findStateDir uses the home folder of the user if HOME is empty or relative, and never the current folder', (t) => {
  const { HOME = userInfo().homedir } = process.env;
  t.after(() => {
    process.env['HOME'] = HOME;
  });
  for (const home of ['', '.']) {
    process.env['HOME'] = home;
    assert.equal(findStateDir(), join(userInfo().homedir, '.local/state/roomservice'));
    assert.equal(findStateDir('/var/state'), '/var/state/roomservice');
  }
});
