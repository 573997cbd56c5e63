import assert from 'node:assert/strict';
import type { Answer } from '../../../support/http.ts';

/** A refusal that the contract asks for. */
interface Refusal {
  status: number;
  /** Codes of which the body must have one. */
  codes: readonly string[];
  /** The only field that the message names. Undefined if the message names no field. */
  field?: string;
}

export const INVALID = { status: 400, codes: ['invalid_request'] } as const;

/** The faults of one operation, so that a test reports all of them and not only the first. */
export class Findings {
  readonly #faults: string[] = [];

  /** Runs an assertion. If it fails, notes its message. @param what the case that it is about */
  check(what: string, assertion: () => void): void {
    try {
      assertion();
    } catch (error) {
      this.#faults.push(`${what}: ${String(error).slice(0, 500)}`);
    }
  }

  checkRefusal(what: string, answer: Answer, refusal: Refusal): void {
    this.check(what, () => assertRefused(answer, refusal));
  }

  assertNone(): void {
    assert.ok(this.#faults.length === 0, `${this.#faults.length} faults:\n${this.#faults.join('\n')}`);
  }
}

function assertRefused({ status, body, text }: Answer, refusal: Refusal): void {
  assert.equal(status, refusal.status, text.slice(0, 200));
  assert.deepEqual(Object.keys(body).sort(), ['code', 'message']);
  assert.ok(refusal.codes.includes(body.code), text);
  if (refusal.field !== undefined) {
    assert.deepEqual(fieldsOf(body.message), [refusal.field], text.slice(0, 200));
    // Each pattern of a schema needs words that say what is allowed (`matching`). These are the words for a pattern without any.
    assert.doesNotMatch(body.message, /has a form that is not allowed/);
  }
}

/**
 * Returns the fields that a message names, as in `items.0.quantity: must be at least 1 | notes: must be a text`. If a form cannot be decoded,
 * the message writes its fields as the form does, such as `items[0][quantity]`.
 */
function fieldsOf(message: string): string[] {
  return message.split(' | ').map((text) => (text.split(': ', 1)[0] ?? '').replaceAll(/\[(\w+)\]/g, '.$1'));
}
