const TOKEN = /[\w-]{16,}/g;
/** A new token may equal a known secret, because two sign-ins of a user within one second get the same token. */
const NEW_TOKEN = /"access_token":"[^"]*"/g;

/** Finds leaks in responses and log lines: a known secret, or an id or a text of the second tenant. */
export class Secrets {
  readonly #secrets = new Set<string>();
  #marks: string[] = [];
  #foreignIds = new Set<string>();

  add(secret: string): void {
    (secret.match(TOKEN) ?? []).forEach((word) => this.#secrets.add(word));
  }

  /** Adds every secret in an object, at every depth. */
  learn(value: unknown): void {
    if (typeof value !== 'object' || value === null) {
      return;
    }
    for (const [key, each] of Object.entries(value)) {
      if (typeof each === 'string' && key.endsWith('secret')) {
        this.add(each);
      } else if (typeof each === 'string' && /^(access_token|authorization)$/.test(key)) {
        // Only the signature of a token is secret.
        this.add(each.split('.').at(-1) ?? '');
      } else if (typeof each === 'string' && key === 'cookie') {
        this.add(each);
      } else {
        this.learn(each);
      }
    }
  }

  setForeign(marks: string[], ids: string[]): void {
    this.#marks = marks;
    this.#foreignIds = new Set(ids);
  }

  /** @param asked the text of the request. An id of the second tenant that the request itself contains is not a leak */
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
