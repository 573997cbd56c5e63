import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** A script in a process of its own that does one job at a time. */
export interface Child<Job, Answer> {
  /** @throws Error with what went wrong there */
  ask(job: Job): Promise<Answer>;
  [Symbol.asyncDispose](): Promise<void>;
}

type Message<Answer> = { answer: Answer } | { error: string };

/** @param script relative to this folder; it calls `answerJobs` */
export function startChild<Job, Answer>(script: string, env: Record<string, string> = {}): Child<Job, Answer> {
  const child = fork(join(import.meta.dirname, script), { serialization: 'advanced', env: { ...process.env, ...env } });
  return {
    async ask(job) {
      child.send(job as object);
      const message = await nextMessage<Answer>(child, script);
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

function nextMessage<Answer>(child: ChildProcess, script: string): Promise<Message<Answer>> {
  return new Promise((resolve, reject) => {
    const onExit = () => reject(new Error(`${script} ended.`));
    child.once('exit', onExit);
    child.once('message', (message) => {
      child.off('exit', onExit);
      resolve(message as Message<Answer>);
    });
  });
}

/** The script's side. It ends with its parent, however that ends, and leaves a Ctrl-C to it. */
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
