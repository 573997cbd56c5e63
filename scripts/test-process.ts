import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe } from 'node:test';
import { pathToFileURL } from 'node:url';
import { closeSharedService, keepSharedService } from '#test/support/shared-service.ts';

/**
 * Test files of a run. Several processes divide these files among themselves, so each file runs in only one process. Each process gets the
 * whole list of files.
 */
interface SharedFiles {
  root: string;
  /** Paths of the test files, relative to `root`, in the order in which this process takes them. */
  files: string[];
  /** Absolute path of a folder that all processes share. A process takes a test file by creating a folder for this file in it. */
  claimsDir: string;
}

/** Runs each test file that no other process has taken, one after the other. Each file is a suite, and the name of the suite is its path. */
export async function runTestFiles({ root, files, claimsDir }: SharedFiles): Promise<void> {
  keepSharedService();
  for (const file of files) {
    if (claim(join(claimsDir, encodeURIComponent(file)))) {
      const before = mockable();
      await describe(file, async () => {
        await import(pathToFileURL(join(root, file)).href);
        after(() =>
          assert.deepEqual(changedSince(before), [], 'Functions that are still mocked after the tests of this file'),
        );
      });
    }
  }
  await closeSharedService();
}

/**
 * Returns the functions that tests mock most often. The caller compares these functions before and after a test file, because a forgotten
 * mock would change the tests of later files in this process. A file can leave a mock by mistake, because `mock.restoreAll` does not
 * restore a method that was mocked twice.
 */
function mockable(): Record<string, unknown> {
  const now: unknown = Reflect.get(performance, 'now');
  return { Date, setTimeout, setInterval, fetch, 'Math.random': Math.random, 'performance.now': now };
}

/** Returns the names of the functions that were replaced after `before` was read, for example by a mock. */
function changedSince(before: Record<string, unknown>): string[] {
  const now = mockable();
  return Object.keys(before).filter((name) => now[name] !== before[name]);
}

/** Takes a test file by creating the folder `path`. Returns false if the folder exists, because then another process has taken the file. */
function claim(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST') {
      return false;
    }
    throw error;
  }
}
