/** Maximum number of bytes that are kept of a response. */
const KEPT_BYTES = 1_024;

/** First bytes of a response body, as text for staff. */
export class AnswerText {
  readonly #chunks: Buffer[] = [];
  #length = 0;

  add(chunk: Buffer): void {
    const missing = KEPT_BYTES - this.#length;
    if (missing > 0) {
      // The chunk may be a small part of a large buffer of the connection. If the chunk itself were kept, the whole buffer would stay in
      // memory.
      const kept = Buffer.from(chunk.subarray(0, missing));
      this.#chunks.push(kept);
      this.#length += kept.length;
    }
  }

  /**
   * Returns the bytes as text. Bytes that are not UTF-8 become U+FFFD. An incomplete character at the end is left out. NUL becomes U+FFFD
   * too, because PostgreSQL stores no text with NUL.
   */
  toString(): string {
    // With `stream`, the decoder returns no character for an incomplete sequence of bytes at the end.
    const text = new TextDecoder().decode(Buffer.concat(this.#chunks), { stream: true });
    return text.replaceAll('\0', '\u{FFFD}');
  }
}
