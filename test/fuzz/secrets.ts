const TOKEN = /[\w-]{16,}/g;
/** Two sign-ins within a second are given the same token. */
const NEW_TOKEN = /"access_token":"[^"]*"/g;

/** What must not show: secrets in any answer or log, the other tenant's data anywhere. Found by its words, in one pass of a text. */
export class Secrets {
  readonly #secrets = new Set<string>();
  #marks: string[] = [];
  #foreignIds = new Set<string>();

  add(secret: string): void {
    (secret.match(TOKEN) ?? []).forEach((word) => this.#secrets.add(word));
  }

  /** Takes every secret that an object shows. */
  learn(value: unknown): void {
    if (typeof value !== 'object' || value === null) {
      return;
    }
    for (const [key, each] of Object.entries(value)) {
      if (typeof each === 'string' && key.endsWith('secret')) {
        this.add(each);
      } else if (typeof each === 'string' && /^(access_token|authorization)$/.test(key)) {
        // A token's signature; what is before it anybody may read.
        this.add(each.split('.').at(-1) ?? '');
      } else {
        this.learn(each);
      }
    }
  }

  setForeign(marks: string[], ids: string[]): void {
    this.#marks = marks;
    this.#foreignIds = new Set(ids);
  }

  /** What a text shows that it must not. @param asked the request's text: an id that it names itself is no news */
  findLeaks(text: string, asked: string): string[] {
    const words = text.replaceAll(NEW_TOKEN, '').match(TOKEN) ?? [];
    return [
      ...this.#marks.filter((mark) => text.includes(mark)).map((mark) => `the other tenant's text: ${mark}`),
      ...words.filter((word) => this.#secrets.has(word)).map((word) => `a secret: ${word.slice(0, 4)}…`),
      ...words
        .filter((word) => this.#foreignIds.has(word) && !asked.includes(word))
        .map((word) => `the other tenant's id: ${word}`),
    ];
  }
}
