import { type Operation, schemesOf } from './openapi-types.ts';
import { schemeVariable, type Step } from './story.ts';

/**
 * Returns the two Postman scripts of a request. The first one runs before the request, and skips the request if a variable that it needs is
 * empty. The second one runs after the response. It checks the status and stores values of the response in variables.
 */
export function scriptsOf(operation: Operation, step: Step): object[] {
  return [scriptOf('prerequest', beforeLines(operation, step)), scriptOf('test', afterLines(operation, step))].filter(
    (script) => script !== null,
  );
}

function beforeLines(operation: Operation, { needs = [], unless, before = [] }: Step): string[] {
  const absent = [...schemesOf(operation).map(schemeVariable), ...needs].map((name) => `!pm.variables.get('${name}')`);
  const present = unless === undefined ? [] : [`pm.variables.get('${unless}')`];
  const reasons = [...absent, ...present];
  return reasons.length === 0 ? before : [`if (${reasons.join(' || ')}) pm.execution.skipRequest();`, ...before];
}

function afterLines(operation: Operation, { status = usualStatus(operation), after = [] }: Step): string[] {
  if (!(status in operation.responses)) {
    throw new Error(
      `The document of ${operation.operationId} has no status ${status}. Correct scripts/postman/story.ts.`,
    );
  }
  const lines = [`pm.response.to.have.status(${status});`, ...after];
  if (after.some((line) => line.includes('answer'))) {
    lines.splice(1, 0, 'const answer = pm.response.json();');
  }
  return [`pm.test('the status is ${status}', () => {`, ...lines.map((line) => `  ${line}`), '});'];
}

function usualStatus({ responses }: Operation): number {
  return '201' in responses ? 201 : 200;
}

function scriptOf(listen: string, exec: string[]): object | null {
  return exec.length === 0 ? null : { listen, script: { type: 'text/javascript', exec } };
}
