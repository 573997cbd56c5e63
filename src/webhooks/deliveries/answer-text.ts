/** Maximum number of bytes of a response that are kept. */
const KEPT_BYTES = 1_024;

/** The first bytes of a response, as text for staff. */
export class AnswerText {
  readonly #chunks: Buffer[] = [];
  #length = 0;

  add(chunk: Buffer): void {
    const missing = KEPT_BYTES - this.#length;
    if (missing > 0) {
      // The copy lets go of the buffer of the connection, of which the chunk may be a small part.
      const kept = Buffer.from(chunk.subarray(0, missing));
      this.#chunks.push(kept);
      this.#length += kept.length;
    }
  }

  /**
   * Returns the bytes as text. Bytes that are not UTF-8 become U+FFFD. A character that the end cuts is left out. NUL becomes U+FFFD too,
   * because PostgreSQL stores no text with NUL.
   */
  toString(): string {
    // With `stream`, the decoder keeps an incomplete character at the end for a next chunk.
    const text = new TextDecoder().decode(Buffer.concat(this.#chunks), { stream: true });
    return text.replaceAll('\0', '\u{FFFD}');
  }
}
