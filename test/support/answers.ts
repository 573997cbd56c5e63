import assert from 'node:assert/strict';
import type { Answer } from './http.ts';

/** Asserts an error with only the fields `code` and `message`. @returns its message */
export function assertError(answer: Answer, status: number, code: string): string {
  assert.equal(answer.status, status, answer.text);
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/);
  assert.deepEqual(Object.keys(answer.body), ['code', 'message']);
  assert.equal(answer.body.code, code, answer.text);
  assert.equal(typeof answer.body.message, 'string');
  return answer.body.message;
}

export function faultsOf(answer: Answer): string[] {
  return assertError(answer, 400, 'invalid_request').split(' | ');
}

export function countByStatus(answers: Answer[]): Record<number, number> {
  const groups = Object.entries(Object.groupBy(answers, ({ status }) => status));
  return Object.fromEntries(groups.map(([status, group]) => [status, group?.length ?? 0]));
}
