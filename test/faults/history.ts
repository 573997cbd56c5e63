import type { Partner, Tenant } from './tenants.ts';

/** Outcome of one try of a call: success, a refusal, or unknown if there was a 5xx or no response. */
export type Outcome = 'ok' | 'fail' | 'unknown';

/** A create call under one external id, with all responses to it. */
export interface Creation {
  kind: 'order' | 'reservation';
  partner: Partner;
  externalId: string;
  /** Status and id of every 2xx response. */
  successes: { status: number; id: string }[];
  /** Statuses that responses have confirmed, in their order. */
  statuses: string[];
  /** Error code of the refusal, or null if there was no refusal. */
  refusal: string | null;
  isSettled: boolean;
}

/** A reservation that an OTA has sent. `lastSent` is the last state that the OTA sent; null before the first response. */
export interface OtaStay {
  tenant: Tenant;
  source: string;
  externalId: string;
  lastSent: { status: string; check_in: string; check_out: string } | null;
  id: string | null;
}

/** Concurrent bookings for the last rooms of one night. */
export interface Race {
  night: string;
  capacity: number;
  creations: Creation[];
}

/** A call with an old secret. It began after the response to the revoke or rotate that invalidated the secret. */
export interface OldSecretProbe {
  node: string;
  after: 'revoke' | 'rotate';
  afterMs: number;
  status: number;
}

/** A call of the credential whose budget is checked. */
export interface BudgetedCall {
  /** Counter that counted the call: Redis, or one start of one process if Redis is missing. */
  counter: string;
  sentAtMs: number;
  answeredAtMs: number;
  /** Result of the call. `unknown` means that a 503 or a missing response does not tell if the call was counted. */
  outcome: 'let_in' | 'refused' | 'unknown';
}

/** Everything that the clients know. A caller that needs the part of one fault stores the lengths at its beginning. */
export class History {
  readonly creations: Creation[] = [];
  readonly otaStays: OtaStay[] = [];
  readonly races: Race[] = [];
  readonly probes: OldSecretProbe[] = [];
  readonly budgetedCalls: BudgetedCall[] = [];
  readonly revokedCredentials = new Set<string>();
  /** Unexplained responses: a 4xx to a valid call, or two different 2xx to one create. */
  readonly surprises: string[] = [];
  /** Texts of another tenant in a response, a webhook or a log. */
  readonly leaks: string[] = [];
  /** Calls that got no decisive response in any try within the time limit. */
  readonly unsettled: string[] = [];
  readonly tries: Record<Outcome, number> = { ok: 0, fail: 0, unknown: 0 };
  /** Calls through the balancer that got a 5xx or no response. */
  readonly balancedFailures: string[] = [];
  /** True while the clocks of some processes are an hour ahead. */
  isClockOff = false;
  /** Number of 500 responses. A caller may repeat such a call, but each one is an unexpected error of the service. */
  internalErrors = 0;

  get requests(): number {
    return this.tries.ok + this.tries.fail + this.tries.unknown;
  }

  begin(kind: Creation['kind'], partner: Partner, externalId: string): Creation {
    const creation: Creation = {
      kind,
      partner,
      externalId,
      successes: [],
      statuses: [],
      refusal: null,
      isSettled: false,
    };
    this.creations.push(creation);
    return creation;
  }
}
