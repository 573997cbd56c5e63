import type { Partner, Tenant } from './tenants.ts';

/** Outcome of one try of a call: success, a refusal, or unknown if there was a 5xx or no response. */
type Outcome = 'ok' | 'fail' | 'unknown';

/** An order or a reservation that a client creates under one external id, with the responses to all its calls. */
export interface Creation {
  kind: 'order' | 'reservation';
  partner: Partner;
  externalId: string;
  /** Status and id of every 2xx response to a create call. */
  successes: { status: number; id: string }[];
  /** Statuses that the client has set on this order or reservation, oldest first. A status is added after a response proves the change. */
  statuses: string[];
  /** Error code if the create call was refused, or null. */
  refusal: string | null;
  isSettled: boolean;
}

/**
 * A reservation that an OTA (a booking site) sends. `lastSent` is the last state that the service has accepted, or null before the
 * service has accepted a state.
 */
export interface OtaStay {
  tenant: Tenant;
  source: string;
  externalId: string;
  lastSent: { status: string; check_in: string; check_out: string } | null;
  id: string | null;
}

/** Concurrent bookings for one night. They outnumber the rooms of this night. */
export interface Race {
  night: string;
  capacity: number;
  creations: Creation[];
}

/** A call with an old secret. The call began after the service had confirmed that the credential was revoked or rotated. */
export interface OldSecretProbe {
  node: string;
  after: 'revoke' | 'rotate';
  afterMs: number;
  status: number;
}

/**
 * A call that tests the budget of a credential. The budget is the number of calls that the service admits from one credential in one
 * minute.
 */
export interface BudgetedCall {
  /**
   * Name of the counter that counts the call. All processes share one counter in Redis. Without Redis, each process has its own counter,
   * and a restarted process begins with a new counter.
   */
  counter: string;
  sentAtMs: number;
  answeredAtMs: number;
  /** Result of the call. `unknown` means that a 503 or a missing response does not show if the call was counted. */
  outcome: 'let_in' | 'refused' | 'unknown';
}

/**
 * Calls and responses of all clients during the run. When a fault begins, the suite stores the current length of some lists. The entries
 * that come later belong to this fault.
 */
export class History {
  readonly creations: Creation[] = [];
  readonly otaStays: OtaStay[] = [];
  readonly races: Race[] = [];
  readonly probes: OldSecretProbe[] = [];
  readonly budgetedCalls: BudgetedCall[] = [];
  readonly revokedCredentials = new Set<string>();
  /** Unexplained responses. For example, a valid call got a 4xx, or a repeated create call got two 2xx responses with different ids. */
  readonly surprises: string[] = [];
  /** Descriptions of responses, webhooks and log lines that contain text of another tenant. */
  readonly leaks: string[] = [];
  /** Calls that failed at each try until the time limit of 75 s. A try fails if it gets a 5xx or no response. */
  readonly unsettled: string[] = [];
  /** Times at which responses acknowledged writes, in milliseconds since the start of the suite. */
  readonly acknowledgedAtMs: number[] = [];
  readonly tries: Record<Outcome, number> = { ok: 0, fail: 0, unknown: 0 };
  /** Calls through the balancer that got a 5xx or no response. */
  readonly balancedFailures: string[] = [];
  /** True while the clocks of some processes are an hour ahead. */
  isClockOff = false;
  /** Number of 500 responses. Clients repeat such calls, but each 500 is an unexpected error of the service. */
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
