import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Child process that runs a script and does one job at a time. */
export interface Child<Job, Answer> {
  pid: number;
  /**
   * Sends a job to the process and returns its result.
   * @throws Error if the job fails, with the stack trace from the process, or if the process ends before the job is finished
   */
  ask(job: Job): Promise<Answer>;
  [Symbol.asyncDispose](): Promise<void>;
}

type Message<Answer> = { answer: Answer } | { error: string };

/**
 * Starts a script in its own process.
 * @param script path relative to the folder `bench`. The script has to call `answerJobs`
 */
export function startChild<Job, Answer>(script: string, env: Record<string, string> = {}): Child<Job, Answer> {
  const child = fork(join(import.meta.dirname, script), { serialization: 'advanced', env: { ...process.env, ...env } });
  return {
    pid: child.pid ?? 0,
    async ask(job) {
      const message = await exchange<Answer>(child, job as object, script);
      if ('error' in message) {
        throw new Error(`${script}: ${message.error}`);
      }
      return message.answer;
    },
    async [Symbol.asyncDispose]() {
      if (child.connected) {
        child.disconnect();
        await once(child, 'exit');
      }
    },
  };
}

/** Sends a job to the process and returns the next message of the process. */
function exchange<Answer>(child: ChildProcess, job: object, script: string): Promise<Message<Answer>> {
  return new Promise((resolve, reject) => {
    const onExit = () => reject(new Error(`The process of ${script} ended before it finished its job.`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message as Message<Answer>);
    });
    // If the child process has been stopped, `send` reports an error to this callback. Without a callback, `send` would emit an `error`
    // event, which would end the parent process.
    child.send(job, (error) => error && reject(error));
  });
}

/**
 * Handles the jobs that the parent process sends. A script that `startChild` starts has to call this function. The process of the script
 * exits when its parent exits for any reason. It ignores Ctrl-C, because the parent handles Ctrl-C.
 */
export function answerJobs(handle: (job: never) => Promise<unknown>): void {
  const reply = (message: Message<unknown>) => process.send?.(message);
  process.on('message', (job) => {
    handle(job as never).then(
      (answer) => reply({ answer }),
      (error: Error) => reply({ error: error.stack ?? error.message }),
    );
  });
  process.on('disconnect', () => process.exit());
  process.on('SIGINT', () => {});
}
