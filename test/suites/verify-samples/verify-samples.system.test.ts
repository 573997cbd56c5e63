import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { verify } from '../../../examples/receiver/verify.ts';
import vectorFile from '../../../examples/verify/vectors.json' with { type: 'json' };
import { verifySignature } from '#webhooks/deliveries/signature.ts';

const REPOSITORY = join(import.meta.dirname, '../../..');
const TIMEOUT_MS = 120_000;
const { now_seconds: nowSeconds, vectors } = vectorFile;

interface Sample {
  language: string;
  /**
   * Name of the language in the first line of a Markdown code block, for example `ts`. A sample is example code that verifies the signature
   * of a webhook. `docs/guides/webhooks.md` shows each sample in such a code block.
   */
  block: string;
  sample: string;
}

interface Program extends Sample {
  /**
   * File of the driver program. It reads one test vector from each line of its input, which `lineOf` has written. It calls the sample with
   * this vector.
   */
  driver: string;
  /** Command that the sample needs on PATH. If the command is missing, the test of the sample is skipped. */
  needs: string;
  /**
   * Shell command that builds and runs the program. Its working directory contains the driver program and the sample.
   */
  command: string;
}

const TYPESCRIPT: Sample = { language: 'TypeScript', block: 'ts', sample: 'examples/receiver/verify.ts' };
const PROGRAMS: Program[] = [
  {
    language: 'Python',
    block: 'python',
    sample: 'examples/verify/verify.py',
    driver: 'vectors.py',
    needs: 'python3',
    command: 'python3 vectors.py',
  },
  {
    language: 'PHP',
    block: 'php',
    sample: 'examples/verify/verify.php',
    driver: 'vectors.php',
    needs: 'php',
    command: 'php vectors.php',
  },
  {
    language: 'Go',
    block: 'go',
    sample: 'examples/verify/verify.go',
    driver: 'vectors.go',
    needs: 'go',
    command: 'mkdir webhook && mv verify.go webhook && go mod init samples && go run vectors.go',
  },
  {
    language: 'Ruby',
    block: 'ruby',
    sample: 'examples/verify/verify.rb',
    driver: 'vectors.rb',
    needs: 'ruby',
    command: 'ruby vectors.rb',
  },
  {
    language: 'Java',
    block: 'java',
    sample: 'examples/verify/WebhookVerifier.java',
    driver: 'Vectors.java',
    needs: 'javac',
    command: 'javac -Xlint:all -Werror *.java && java -cp . Vectors',
  },
  {
    language: 'C#',
    block: 'csharp',
    sample: 'examples/verify/WebhookVerifier.cs',
    driver: 'Vectors.cs',
    needs: 'mcs',
    command: 'mcs -warnaserror *.cs -out:vectors.exe && mono vectors.exe',
  },
];

type Vector = (typeof vectors)[number];

/**
 * Returns a test vector as an input line for a driver program. The line has five fields, separated by tabs:
 * - all secrets, each in base64 and followed by a comma
 * - the timestamp header in base64, or `-` if it is missing
 * - the signature header in base64, or `-` if it is missing
 * - the body in base64
 * - the current time in seconds
 */
function lineOf({ secrets, timestamp, signature, body }: Vector): string {
  const field = (text: string | null) => (text === null ? '-' : Buffer.from(text).toString('base64'));
  const secretFields = secrets.map((secret) => `${field(secret)},`).join('');
  return `${[secretFields, field(timestamp), field(signature), field(body), nowSeconds].join('\t')}\n`;
}

function isOnPath(command: string): boolean {
  return spawnSync(command, ['--version']).error === undefined;
}

/** Returns the name and the outcome of each test vector, so that one comparison shows all differences. */
function named(outcomes: boolean[]): string[] {
  return vectors.map(({ name }, index) => `${name}: ${outcomes[index]}`);
}

const expected = named(vectors.map(({ valid }) => valid));

describe('the test vectors', () => {
  test('a test vector is marked valid if and only if the service accepts its signature and its timestamp is in the tolerance', () => {
    for (const { name, valid, secrets, timestamp, signature, body } of vectors) {
      const message = { timestampSeconds: Number(timestamp), body, signature: signature ?? '' };
      const isLate = Math.abs(nowSeconds - message.timestampSeconds) > vectorFile.tolerance_seconds;
      const isSigned = secrets.some((secret) => secret !== '' && verifySignature(secret, message));
      assert.equal(isSigned && !isLate, valid, name);
    }
  });
});

describe('the delivery that the guide shows', () => {
  test('the delivery that the webhook guide shows has a valid signature and the same event id in header and body', () => {
    const guide = readFileSync(join(REPOSITORY, 'docs/guides/webhooks.md'), 'utf8');
    const [, head = '', body = ''] = /^```http\n(.*?)\n\n(.*?)\n```$/ms.exec(guide) ?? [];
    const header = (name: string) => new RegExp(`^X-Service-${name}: (.*)$`, 'm').exec(head)?.[1] ?? '';
    const [secret = ''] = /rss_[\w-]+(?=`:\n)/.exec(guide) ?? [];
    const nowThen = Number(header('Timestamp'));
    assert.ok(verify(secret, header('Timestamp'), header('Signature'), Buffer.from(body), nowThen));
    assert.equal((JSON.parse(body) as { event_id: string }).event_id, header('Event-Id'));
  });
});

describe('the samples for the verification of a signature', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'roomservice-samples-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  /**
   * Builds the sample and runs it with all test vectors.
   * @returns for each vector, true if the sample accepts it
   */
  function run({ sample, driver, command }: Program): boolean[] {
    const workplace = mkdtempSync(join(folder, 'sample-'));
    copyFileSync(join(REPOSITORY, sample), join(workplace, basename(sample)));
    copyFileSync(join(import.meta.dirname, driver), join(workplace, driver));
    const input = vectors.map(lineOf).join('');
    const { status, stdout, stderr } = spawnSync('sh', ['-c', command], {
      cwd: workplace,
      input,
      encoding: 'utf8',
      timeout: TIMEOUT_MS,
    });
    assert.equal(status, 0, `${command}: ${stdout}${stderr}`);
    return stdout
      .trimEnd()
      .split(/\r?\n/)
      .map((line) => line === 'true');
  }

  test('the TypeScript sample gives the expected result for every test vector', () => {
    const outcomes = vectors.map(({ secrets, timestamp, signature, body }) =>
      verify(secrets, timestamp ?? '', signature ?? '', Buffer.from(body), nowSeconds),
    );
    assert.deepEqual(named(outcomes), expected);
  });

  for (const program of PROGRAMS) {
    const skip = isOnPath(program.needs) ? false : `${program.needs} is not on PATH`;
    test(`the ${program.language} sample gives the expected result for every test vector`, { skip }, () => {
      assert.deepEqual(named(run(program)), expected);
    });
  }

  test('the webhook guide contains the code of every sample unchanged', () => {
    const guide = readFileSync(join(REPOSITORY, 'docs/guides/webhooks.md'), 'utf8');
    for (const { language, block, sample } of [TYPESCRIPT, ...PROGRAMS]) {
      const code = readFileSync(join(REPOSITORY, sample), 'utf8');
      assert.ok(guide.includes(`\`\`\`${block}\n${code}\`\`\`\n`), `${language}: ${sample}`);
    }
  });
});
