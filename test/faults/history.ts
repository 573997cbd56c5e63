import type { Partner, Tenant } from './tenants.ts';

/** What one try of a call came to: an answer that decides, one that refuses, or nothing that says whether it happened. */
export type Outcome = 'ok' | 'fail' | 'unknown';

/** A create under one external id, with all that was answered to it. */
export interface Creation {
  kind: 'order' | 'reservation';
  partner: Partner;
  externalId: string;
  /** Of every 2xx: its status and the id in it. */
  successes: { status: number; id: string }[];
  /** Statuses that it has been brought to, as far as answers tell, in order. */
  statuses: string[];
  /** `code` of the refusal, where there was one. */
  refusal: string | null;
  isSettled: boolean;
}

/** A reservation that an OTA told of, and what it told last. */
export interface ToldStay {
  tenant: Tenant;
  source: string;
  externalId: string;
  told: { status: string; check_in: string; check_out: string } | null;
  id: string | null;
}

/** N callers for the last rooms of one night. */
export interface Race {
  night: string;
  capacity: number;
  creations: Creation[];
}

/** A call with a secret that a revoke or rotate, answered before it began, had taken away. */
export interface OldSecretProbe {
  node: string;
  after: 'revoke' | 'rotate';
  afterMs: number;
  status: number;
}

/** A call of the credential whose budget is watched. */
export interface BudgetedCall {
  /** Where budgets are not shared: the process that counted it, anew after every start. */
  counter: string;
  sentAtMs: number;
  answeredAtMs: number;
  /** Unknown: it was counted, or not; a 503 or a lost answer tells neither. */
  outcome: 'let_in' | 'refused' | 'unknown';
}

/** All that the clients know. It only ever grows; marks tell where a fault began. */
export class History {
  readonly creations: Creation[] = [];
  readonly toldStays: ToldStay[] = [];
  readonly races: Race[] = [];
  readonly probes: OldSecretProbe[] = [];
  readonly budgetedCalls: BudgetedCall[] = [];
  readonly revokedCredentials = new Set<string>();
  /** Answers that nothing explains: a 4xx where the call was right, two 2xx that differ. */
  readonly surprises: string[] = [];
  /** Texts of another tenant in an answer, a webhook or a log. */
  readonly leaks: string[] = [];
  /** Calls that no try of got an answer within the time. */
  readonly unsettled: string[] = [];
  readonly tries: Record<Outcome, number> = { ok: 0, fail: 0, unknown: 0 };
  /** Calls through the balancer that ended in a 5xx or without an answer, with the time. */
  readonly balancedFailures: string[] = [];
  /** While one of the processes has its clock an hour off. */
  isClockOff = false;
  /** Answers 500: safe to try again, but a fault that nobody thought of. */
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
