import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** Child process that runs a program of this folder. The program receives messages, and responds to some of them. */
export class Child<Message, Answer> {
  readonly #process: ChildProcess;

  constructor(program: string) {
    this.#process = fork(join(import.meta.dirname, program), { serialization: 'advanced' });
  }

  send(message: Message): void {
    this.#process.send(message as object);
  }

  async ask(message: Message): Promise<Answer> {
    const answered = once(this.#process, 'message');
    this.send(message);
    const [answer] = (await answered) as [Answer];
    return answer;
  }

  end(): void {
    this.#process.kill('SIGKILL');
  }
}
