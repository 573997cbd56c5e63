import type { Partner, Tenant } from './tenants.ts';

/** An order or a reservation that a client creates under one external id, with the responses to all its calls. */
export interface Creation {
  kind: 'order' | 'reservation';
  partner: Partner;
  externalId: string;
  successes: { status: number; id: string }[];
  /** Statuses that the client has set, oldest first. A status is added after a response proves the change. */
  statuses: string[];
  isSettled: boolean;
}

/** A reservation that an OTA (a booking site) sends. `lastSent` is the last state that the service has accepted. */
export interface OtaStay {
  externalId: string;
  source: string;
  lastSent: { status: string; check_in: string; check_out: string } | null;
  id: string | null;
}

interface Race {
  night: string;
  capacity: number;
  creations: Creation[];
}

/** A call with an old secret, after the service had confirmed that the credential was revoked or rotated. */
export interface OldSecretProbe {
  node: string;
  after: 'revoke' | 'rotate';
  afterMs: number;
  status: number;
}

export interface BudgetedCall {
  /** All processes share one counter in Redis. Without Redis, each process has its own, and a restarted process begins a new one. */
  counter: string;
  sentAtMs: number;
  answeredAtMs: number;
  /** `unknown` means that a 503 or a missing response does not show if the call was counted. */
  outcome: 'let_in' | 'refused' | 'unknown';
}

/** Calls and responses of all clients during the run. */
export class History {
  readonly tenants: Tenant[] = [];
  readonly creations: Creation[] = [];
  readonly otaStays: OtaStay[] = [];
  readonly races: Race[] = [];
  readonly probes: OldSecretProbe[] = [];
  readonly budgetedCalls: BudgetedCall[] = [];
  readonly revokedCredentials = new Set<string>();
  /** Unexplained responses. For example, a valid call got a 4xx, or a repeated create call got two 2xx responses with different ids. */
  readonly surprises: string[] = [];
  readonly leaks: string[] = [];
  /** Calls whose every try got a 5xx or no response. */
  readonly unsettled: string[] = [];
  readonly acknowledgedAtMs: number[] = [];
  /** Number of tries by outcome: success, a refusal, or unknown if there was a 5xx or no response. */
  readonly tries = { ok: 0, fail: 0, unknown: 0 };
  /** Calls through the balancer that got a 5xx or no response. */
  readonly balancedFailures: string[] = [];
  isClockOff = false;

  get requests(): number {
    return this.tries.ok + this.tries.fail + this.tries.unknown;
  }

  /** Records a leak if the text contains the marker of another tenant. */
  findLeak({ marker }: Tenant, text: string, where: string): void {
    const other = this.tenants.find((each) => each.marker !== marker && text.includes(each.marker));
    if (other !== undefined) {
      this.leaks.push(`${where}, of tenant ${marker}, contains ${other.marker}`);
    }
  }

  begin(kind: Creation['kind'], partner: Partner, externalId: string): Creation {
    const creation: Creation = { kind, partner, externalId, successes: [], statuses: [], isSettled: false };
    this.creations.push(creation);
    return creation;
  }
}
