import type { TestService } from '../../../support/service.ts';
import { type Caller, type Household, rightfulCaller } from './callers.ts';
import type { Findings } from './findings.ts';
import { knownOf, pathValues } from './house.ts';
import type { Operation } from './operations.ts';
import type { Request } from './requests.ts';
import { type Right, RIGHTS } from './rights.ts';

/** The service and its tenants, which all operations share. */
export interface Scene {
  service: TestService;
  operations: Operation[];
  house: Household;
  /** Another tenant, with the same features. */
  rival: Household;
  /** Callers of the house with each role, callers of tenants without a feature, and callers whom nobody knows. */
  callers: Caller[];
}

/** One operation under test. */
export interface Subject extends Scene {
  operation: Operation;
  right: Right;
  /** Caller of the house who may call the operation. */
  caller: Caller;
  /** The same caller of the other tenant. */
  intruder: Caller;
  /** Smallest valid request of the house. */
  request: Request;
  /** Smallest valid request of the other tenant. */
  foreign: Request;
  findings: Findings;
}

export async function subjectOf(scene: Scene, operation: Operation, findings: Findings): Promise<Subject> {
  const right = RIGHTS[operation.id];
  if (right === undefined) {
    throw new Error(`RIGHTS has no entry for ${operation.id}.`);
  }
  return {
    ...scene,
    operation,
    right,
    caller: rightfulCaller(right, scene.house),
    intruder: rightfulCaller(right, scene.rival),
    request: await requestOf(scene.service, operation, scene.house),
    foreign: await requestOf(scene.service, operation, scene.rival),
    findings,
  };
}

async function requestOf(service: TestService, operation: Operation, { hotel }: Household): Promise<Request> {
  const path = Object.entries(await pathValues(service, hotel, operation.path));
  const encoded = path.map(([name, value]) => [name, encodeURIComponent(value)] as const);
  return { operation, path: Object.fromEntries(encoded), known: knownOf(hotel) };
}

/** Returns the request with `dry_run`, if the operation has it. What is accepted then changes nothing. */
export function dry(request: Request): Request {
  const isKnown = request.operation.parameters.some(({ name }) => name === 'dry_run');
  return isKnown ? { ...request, query: { dry_run: true, ...request.query } } : request;
}
