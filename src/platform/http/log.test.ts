import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';

/**
 * Runs a script in a new process, and returns the log lines on its standard output.
 * @param onLines called after each output with the number of lines so far, and with the standard input of the process
 */
async function linesOf(
  script: string,
  onLines?: (count: number, stdin: NodeJS.WritableStream) => void,
): Promise<{ time: string; msg: string }[]> {
  const source = `import { createLogger } from './log.ts';\nconst log = await createLogger('info');\n${script}`;
  const args = ['--input-type=module-typescript', '--eval', source];
  const child = spawn(process.execPath, args, { cwd: import.meta.dirname, stdio: ['pipe', 'pipe', 'ignore'] });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    onLines?.(output.split('\n').length - 1, child.stdin);
  });
  await once(child, 'close');
  assert.ok(output.endsWith('\n'));
  return output
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as { time: string; msg: string });
}

describe('the log on standard output', () => {
  it('the log has every line in order, including the lines just before process.exit()', async () => {
    const script = `
      for (let round = 0; round < 3; round += 1) {
        for (let line = 0; line < 1_000; line += 1) log.info(round + ' ' + line);
        await new Promise((resolve) => setTimeout(resolve, round * 5));
      }
      process.stdin.once('data', () => {
        for (let line = 0; line < 50; line += 1) log.info('3 ' + line);
        process.exit();
      });
      setTimeout(() => process.exit(), 10_000);`;
    const lines = await linesOf(script, (count, stdin) => {
      if (count === 3_000) {
        stdin.write('end');
      }
    });
    const expected = [1_000, 1_000, 1_000, 50].flatMap((count, round) =>
      Array.from({ length: count }, (_, line) => `${round} ${line}`),
    );
    assert.deepEqual(
      lines.map(({ msg }) => msg),
      expected,
    );
  });

  it('the log has the lines that were written before an uncaught error', async () => {
    const lines = await linesOf(`log.info('before'); throw new Error('this error is not caught');`);
    assert.deepEqual(
      lines.map(({ msg }) => msg),
      ['before'],
    );
  });

  it('each log line has the time of its log call, in UTC with milliseconds', async () => {
    const before = new Date().toISOString();
    const lines = await linesOf(`
      for (let line = 0; line < 5; line += 1) {
        log.info(new Date().toISOString());
        log.info(new Date().toISOString());
        await new Promise((resolve) => setTimeout(resolve, 3));
      }
    `);
    assert.equal(lines.length, 10);
    for (const [index, { time, msg }] of lines.entries()) {
      assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      // The message is the time just before the call. So the message of the next line is a time after the call.
      const nextMsg = lines[index + 1]?.msg ?? new Date().toISOString();
      assert.ok(time >= before && time >= msg && time <= nextMsg, `${time} is not between ${msg} and ${nextMsg}`);
    }
    assert.ok(new Set(lines.map(({ time }) => time)).size > 1);
  });
});
