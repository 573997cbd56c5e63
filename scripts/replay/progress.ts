const EVERY_MS = 5_000;
const EVERY_ON_TERMINAL_MS = 200;

/** Prints the number of completed steps. On a terminal it updates one line, and otherwise it prints a new line every 5 s. */
export class Progress {
  readonly #steps: number;
  readonly #startedAt = performance.now();
  readonly #timer: NodeJS.Timeout;
  #done = 0;

  constructor(steps: number) {
    this.#steps = steps;
    const { isTTY } = process.stdout;
    const tell = () => process.stdout.write(isTTY ? `\r${this.describe()} ` : `${this.describe()}\n`);
    this.#timer = setInterval(tell, isTTY ? EVERY_ON_TERMINAL_MS : EVERY_MS);
  }

  step(): void {
    this.#done += 1;
  }

  end(): void {
    clearInterval(this.#timer);
    process.stdout.write(process.stdout.isTTY ? '\r\u001b[K' : '');
  }

  describe(): string {
    const seconds = (performance.now() - this.#startedAt) / 1000;
    return `${this.#done} of ${this.#steps} steps in ${seconds.toFixed(1)} s: ${Math.round(this.#done / seconds)} a second`;
  }
}
