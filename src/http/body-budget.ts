import { type ApiError, apiError } from '../errors.ts';
import { type Account, STRANGERS } from '../lib/account.ts';
import type { BodyBounds } from '../lib/bounds.ts';
import type { BodySpace } from './read-body.ts';

/** A body up to this size always gets in, and is not counted. One of a stranger is, from its first byte. */
export const FREE_BODY_BYTES = 64 * 1024;
/** One address may take this part of what all strangers have together. */
const STRANGER_SHARE = 4;
const RETRY_AFTER_SECONDS = 1;
const MIB = 1024 * 1024;

/** The space of one body, held until the answer to it has ended. */
export interface HeldSpace extends BodySpace {
  release(): void;
}

/** What a process did with request bodies, for its metrics. */
export interface BodyCounts {
  heldBytes: number;
  refused: Record<Bound, number>;
}

type Bound = 'caller' | 'tenant' | 'strangers' | 'process';

/** Counts the bytes of request bodies that are in memory, and refuses what would go beyond the bounds. */
export class BodyBudget {
  readonly #bounds: BodyBounds;
  readonly #heldByTenant = new Map<string, number>();
  readonly #heldByCaller = new Map<string, number>();
  readonly counts: BodyCounts = { heldBytes: 0, refused: { caller: 0, tenant: 0, strangers: 0, process: 0 } };

  constructor(bounds: BodyBounds) {
    this.#bounds = bounds;
  }

  /** The space of one body. It takes nothing before it grows. */
  spaceFor({ tenant, caller }: Account): HeldSpace {
    const account = { tenant, caller };
    const freeBytes = account.tenant === STRANGERS ? 0 : FREE_BODY_BYTES;
    let heldBytes = 0;
    const hold = (bytes: number) => {
      this.#add(account, bytes - heldBytes);
      heldBytes = bytes;
    };
    return {
      growTo: (bytes) => {
        if (bytes <= Math.max(freeBytes, heldBytes)) {
          return null;
        }
        const bound = this.#boundBeyond(account, bytes - heldBytes);
        if (bound === null) {
          hold(bytes);
          return null;
        }
        hold(0);
        this.counts.refused[bound] += 1;
        return this.#refusal(bound);
      },
      release: () => hold(0),
    };
  }

  /** Which bound so many more bytes would go beyond; null if none. */
  #boundBeyond(account: Account, bytes: number): Bound | null {
    const { ofCaller, ofTenant, ofProcess, ofStrangers } = this.#bounds;
    const isStranger = account.tenant === STRANGERS;
    if (
      (this.#heldByCaller.get(keyOf(account)) ?? 0) + bytes >
      (isStranger ? ofStrangers / STRANGER_SHARE : ofCaller)
    ) {
      return 'caller';
    }
    if ((this.#heldByTenant.get(account.tenant) ?? 0) + bytes > (isStranger ? ofStrangers : ofTenant)) {
      return isStranger ? 'strangers' : 'tenant';
    }
    return this.counts.heldBytes + bytes > ofProcess ? 'process' : null;
  }

  #add(account: Account, bytes: number): void {
    this.counts.heldBytes += bytes;
    addTo(this.#heldByTenant, account.tenant, bytes);
    addTo(this.#heldByCaller, keyOf(account), bytes);
  }

  #refusal(bound: Bound): ApiError {
    const { ofCaller, ofTenant, ofProcess, ofStrangers } = this.#bounds;
    const reasons: Record<Bound, string> = {
      caller: `this caller has nearly ${inMib(ofCaller)} of request bodies under way already`,
      tenant: `the callers of this tenant have nearly ${inMib(ofTenant)} of request bodies under way already`,
      strangers: `callers without credentials have nearly ${inMib(ofStrangers)} of request bodies under way already`,
      process: `nearly ${inMib(ofProcess)} of request bodies are under way already`,
    };
    const message = `body: ${reasons[bound]}. Send it again when one of them is answered, or bodies of up to 64 KiB at any time.`;
    return apiError('rate_limited', message, { 'retry-after': String(RETRY_AFTER_SECONDS) });
  }
}

function keyOf({ tenant, caller }: Account): string {
  return `${tenant} ${caller}`;
}

function inMib(bytes: number): string {
  return `${bytes / MIB} MiB`;
}

/** Keeps no key at zero. */
function addTo(sums: Map<string, number>, key: string, bytes: number): void {
  const sum = (sums.get(key) ?? 0) + bytes;
  if (sum === 0) {
    sums.delete(key);
  } else {
    sums.set(key, sum);
  }
}
