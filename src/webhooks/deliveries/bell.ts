/** Wait that ends after some time, or earlier when the bell rings. If the bell has rung since the last wait, the next wait ends at once. */
export class Bell {
  #hasRung = false;
  #end = () => {};

  ring(): void {
    this.#hasRung = true;
    this.#end();
  }

  async wait(ms: number): Promise<void> {
    if (!this.#hasRung && ms > 0) {
      await new Promise<void>((resolve) => {
        const timer = ms === Number.POSITIVE_INFINITY ? undefined : setTimeout(resolve, ms);
        this.#end = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.#hasRung = false;
    this.#end = () => {};
  }
}
