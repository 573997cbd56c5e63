import { type ApiError, apiError } from '../errors.ts';
import { type Account, STRANGERS } from '../lib/account.ts';
import type { BodyBounds } from '../lib/bounds.ts';
import { type BodySpace, LARGE_BODY_BYTES } from './read-body.ts';

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

type Bound = 'caller' | 'tenant' | 'process';

/** Counts the bytes of request bodies that are in memory, and refuses what would go beyond the bounds. */
export class BodyBudget {
  readonly #bounds: BodyBounds;
  readonly #heldByTenant = new Map<string, number>();
  readonly #heldByCaller = new Map<string, number>();
  readonly counts: BodyCounts = { heldBytes: 0, refused: { caller: 0, tenant: 0, process: 0 } };

  constructor(bounds: BodyBounds) {
    this.#bounds = bounds;
  }

  /** The space of one body. It takes nothing before it grows. */
  spaceFor({ tenant, caller }: Account): HeldSpace {
    const account = { tenant, caller };
    // A small body always gets in, and is not counted. A stranger's is, from its first byte.
    const freeBytes = account.tenant === STRANGERS ? 0 : LARGE_BODY_BYTES;
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
        return this.#refusal(account, bound);
      },
      release: () => hold(0),
    };
  }

  /** Which bound so many more bytes would go beyond; null if they fit. */
  #boundBeyond(account: Account, bytes: number): Bound | null {
    const limits = this.#limitsOf(account);
    if ((this.#heldByCaller.get(keyOf(account)) ?? 0) + bytes > limits.caller) {
      return 'caller';
    }
    if ((this.#heldByTenant.get(account.tenant) ?? 0) + bytes > limits.tenant) {
      return 'tenant';
    }
    return this.counts.heldBytes + bytes > limits.process ? 'process' : null;
  }

  #limitsOf({ tenant }: Account): Record<Bound, number> {
    const { ofCaller, ofTenant, ofProcess, ofStrangers } = this.#bounds;
    return tenant === STRANGERS
      ? { caller: ofStrangers / STRANGER_SHARE, tenant: ofStrangers, process: ofProcess }
      : { caller: ofCaller, tenant: ofTenant, process: ofProcess };
  }

  #add(account: Account, bytes: number): void {
    this.counts.heldBytes += bytes;
    addTo(this.#heldByTenant, account.tenant, bytes);
    addTo(this.#heldByCaller, keyOf(account), bytes);
  }

  #refusal(account: Account, bound: Bound): ApiError {
    const whose = {
      caller: 'this caller has',
      tenant: account.tenant === STRANGERS ? 'callers without credentials have' : 'the callers of this tenant have',
      process: 'all callers have',
    };
    const limit = `${this.#limitsOf(account)[bound] / MIB} MiB`;
    const small = account.tenant === STRANGERS ? '' : ' A body of up to 64 KiB gets in at any time.';
    return apiError(
      'rate_limited',
      `body: ${whose[bound]} nearly ${limit} of request bodies under way. Send it again when one of them is answered.${small}`,
      { 'retry-after': String(RETRY_AFTER_SECONDS) },
    );
  }
}

function keyOf({ tenant, caller }: Account): string {
  return `${tenant} ${caller}`;
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
