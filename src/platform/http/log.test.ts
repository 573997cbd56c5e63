import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, it } from 'node:test';

interface OutputOptions {
  /** True if the process must take its standard output for a terminal. */
  isTerminal?: boolean;
  /** Called after each output with the number of lines so far, and with the standard input of the process. */
  onLines?: ((count: number, stdin: NodeJS.WritableStream) => void) | undefined;
}

/** Runs a script in a new process, and returns its standard output. */
async function outputOf(script: string, { isTerminal = false, onLines }: OutputOptions): Promise<string> {
  const source = `
    import { createLogger, openLogOutput } from './log.ts';
    process.stdout.isTTY = ${isTerminal};
    const log = createLogger('info', await openLogOutput());
    ${script}`;
  const args = ['--input-type=module-typescript', '--eval', source];
  const child = spawn(process.execPath, args, {
    cwd: import.meta.dirname,
    env: { ...process.env, NO_COLOR: '1' },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    onLines?.(output.split('\n').length - 1, child.stdin);
  });
  await once(child, 'close');
  assert.ok(output.endsWith('\n'));
  return output;
}

/** Runs a script in a new process, and returns the log lines on its standard output. */
async function linesOf(script: string, onLines?: OutputOptions['onLines']): Promise<{ time: string; msg: string }[]> {
  const output = await outputOf(script, { onLines });
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

  it('in a terminal, each request has one short line, and other log lines have one line with their fields', async () => {
    const script = `
      log.warn({ reason: 'no route' }, 'careful');
      const request = { request_id: 'r'.repeat(36), method: 'GET', status: 200, duration_ms: 3, tenant_id: 1 };
      log.info({ ...request, path: '/v1/third-party/menu/', credential_id: 'c'.repeat(36) }, 'request');
      log.info({ ...request, path: '/\u009b2J', cut_off: true }, 'request');`;
    const output = await outputOf(script, { isTerminal: true });
    assert.deepEqual(output.replaceAll(/^\[[\d:.]+\] /gm, '').split('\n'), [
      'WARN: careful {"reason":"no route"}',
      'INFO: GET /v1/third-party/menu/ 200, 3 ms',
      'INFO: GET /%C2%9B2J 200, 3 ms, cut off',
      '',
    ]);
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
