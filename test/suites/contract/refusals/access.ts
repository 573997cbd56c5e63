import assert from 'node:assert/strict';
import { newId } from '#platform/lib/ids.ts';
import type { Answer } from '../../../support/http.ts';
import { findOperation } from '../../../support/openapi-documents.ts';
import { valueWith } from './bodies.ts';
import { isFor, statusFor } from './callers.ts';
import { constraintsOf } from './constraints.ts';
import { INVALID } from './findings.ts';
import { forEachOf, type Request, send } from './requests.ts';
import { featureOf } from './rights.ts';
import type { Subject } from './subject.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

/** Sends the valid request as each caller who may not call the operation. */
export async function refuseCallers(subject: Subject): Promise<void> {
  const { service, operation, right, callers, request, findings } = subject;
  const feature = featureOf(operation.path);
  const refused = callers.filter((caller) => isFor(right, caller) && statusFor(right, feature, caller) !== null);
  await forEachOf(refused, async (caller) => {
    const answer = await send(service, caller, request);
    const status = statusFor(right, feature, caller) ?? 0;
    const codes = status === 401 ? ['invalid_credentials'] : ['error'];
    findings.checkRefusal(caller.name, answer, { status, codes });
    const lacksArea = status === 403 && Array.isArray(right) && caller.role.kind !== 'owner';
    for (const area of lacksArea ? right : []) {
      findings.check(caller.name, () => assert.match(answer.text, new RegExp(`\\\\"${area}\\\\"`)));
    }
  });
}

/**
 * Calls the operation as each caller who may call it, without a body. A bad request is a right answer, because the caller was not refused.
 */
export async function acceptCallers({ service, operation, right, callers, request, findings }: Subject): Promise<void> {
  const feature = featureOf(operation.path);
  for (const caller of callers.filter((each) => right !== 'public' && statusFor(right, feature, each) === null)) {
    const { status, text } = await send(service, caller, { ...request, body: null });
    findings.check(caller.name, () => assert.ok(![401, 403].includes(status) && status < 500, `${status} ${text}`));
  }
}

/** Calls the path with each method that it does not have. */
export async function refuseMethods({
  service,
  operations,
  operation,
  caller,
  request,
  findings,
}: Subject): Promise<void> {
  const known = METHODS.filter((method) => findOperation(operations, method, operation.path) !== undefined);
  const expected = [...known, ...(known.includes('GET') ? ['HEAD'] : [])].sort();
  for (const method of METHODS.filter((each) => !known.includes(each))) {
    const answer = await send(service, caller, { ...request, method, body: null });
    findings.checkRefusal(method, answer, { status: 405, codes: ['error'] });
    const allowed = answer.headers.get('allow')?.split(', ');
    findings.check(method, () => assert.deepEqual(allowed?.sort(), expected));
  }
}

/** Puts ids into the path that are malformed, that nothing has, and that an object of another tenant has. */
export async function refusePaths(subject: Subject): Promise<void> {
  const { service, operation, right, house, caller, intruder, request, foreign, findings } = subject;
  const parameters = operation.parameters.filter((parameter) => parameter.in === 'path');
  const missing = { status: 404, codes: operation.codes.get(404) ?? [] };
  for (const { name, schema } of parameters) {
    const at = async (value: string) =>
      await send(service, caller, { ...request, path: { ...request.path, [name]: value } });
    findings.checkRefusal(`${name} with U+0000`, await at('a%00'), { ...INVALID, field: name });
    findings.checkRefusal(`${name} that is not UTF-8`, await at('%FF'), { ...INVALID, field: 'path' });
    if (schema.format !== undefined) {
      findings.checkRefusal(`${name} without its format`, await at('x'), { ...INVALID, field: name });
      continue;
    }
    for (const value of ["'--", newId().replaceAll('-', ''), `${newId()}0`, 'x'.repeat(1_000)]) {
      findings.checkRefusal(`${name} ${value.slice(0, 40)}`, await at(value), missing);
    }
    const unknown = await at(newId());
    findings.checkRefusal(`unknown ${name}`, unknown, missing);
    findings.check(`${name} of another tenant`, sameAnswer(await at(foreign.path[name] ?? ''), unknown));
  }
  if (parameters.length > 0) {
    findings.checkRefusal('another tenant', await send(service, intruder, request), missing);
  }
  if (parameters.length > 0 && right === 'partner') {
    findings.checkRefusal('another partner', await send(service, house.sibling, request), missing);
  }
}

/** Makes the id of an object that nobody has, by the field or parameter that takes it. */
const NOBODYS: Record<string, () => string> = {
  room_type_id: newId,
  rate_plan_id: newId,
  property_id: newId,
  credential_id: newId,
  person_id: newId,
  actor_id: newId,
  item_id: () => 'OF-nobody',
  skus: () => 'OF-nobody',
};

/** Puts ids of another tenant into the query and the body. The response must be that for an id that nothing has. */
export async function refuseForeignIds({ service, caller, request, foreign, findings }: Subject): Promise<void> {
  for (const { name, put } of placesOfIds(request)) {
    const theirs = String(foreign.known[name]?.());
    const nobodys = NOBODYS[name]?.() ?? '';
    const answer = await send(service, caller, put(theirs));
    const expected = await send(service, caller, put(nobodys));
    const text = expected.text.replaceAll(nobodys, theirs);
    findings.check(`${name} of another tenant`, sameAnswer(answer, { ...expected, text }));
  }
}

interface PlaceOfId {
  name: string;
  put: (id: string) => Request;
}

function placesOfIds(request: Request): PlaceOfId[] {
  const { parameters, body } = request.operation;
  const queries = parameters.map(({ name, in: place }) => ({
    name: place === 'query' ? name : '',
    put: (id: string) => ({ ...request, query: { [name]: id } }),
  }));
  const paths = body === null ? [] : constraintsOf(body).filter(({ takesText }) => takesText);
  const fields = [...new Set(paths.map(({ path }) => path.join('.')))].map((path) => {
    const steps = path.split('.');
    const put = (id: string) => ({ ...request, body: valueWith(body ?? {}, request.known, steps, id) });
    return { name: steps.findLast((step) => step !== '0') ?? '', put };
  });
  return [...queries, ...fields].filter(({ name }) => name in NOBODYS);
}

/** Reads as another tenant. The response must show nothing of the house. */
export async function hideHouse({ service, operation, house, intruder, foreign, findings }: Subject): Promise<void> {
  if (operation.method === 'GET') {
    const { text } = await send(service, intruder, foreign);
    const { credential, ownerId, propertyId, document } = house.hotel;
    for (const secret of [credential.id, ownerId, propertyId, document.slug]) {
      findings.check('another tenant', () => assert.ok(!text.includes(secret), `shows ${secret}`));
    }
  }
}

function sameAnswer(answer: Answer, expected: Answer): () => void {
  return () => {
    assert.equal(answer.text, expected.text);
    assert.equal(answer.status, expected.status);
  };
}
