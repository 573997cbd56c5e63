import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'node:test';
import { pathToFileURL } from 'node:url';

/** Test files that the processes of a run share. */
export interface SharedFiles {
  /** Absolute path of the repository. */
  root: string;
  /** Paths of the test files, relative to `root`, in the order in which this process takes them. */
  files: string[];
  /** Absolute path of a folder that has one entry for each file that a process has taken. */
  claimsDir: string;
}

/** Runs each test file that no other process has taken, one after the other. Each file is a suite, and the name of the suite is its path. */
export async function runTestFiles({ root, files, claimsDir }: SharedFiles): Promise<void> {
  for (const file of files) {
    if (claim(join(claimsDir, encodeURIComponent(file)))) {
      await describe(file, async () => void (await import(pathToFileURL(join(root, file)).href)));
    }
  }
}

/** Creates a folder with this path. Returns false if it exists, because then another process has taken the file. */
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
