import { type ApiError, apiError } from '../errors.ts';
import { type Account, STRANGERS } from '../lib/account.ts';
import type { BodyBounds } from '../lib/bounds.ts';
import { type BodySpace, LARGE_BODY_BYTES } from './read-body.ts';

/**
 * Number of equal parts into which `ofStrangers` is divided. `ofStrangers` is the bound on the body bytes of all unauthenticated callers
 * together. The bound of one unauthenticated caller is one part.
 */
const STRANGER_SHARE = 4;
const RETRY_AFTER_SECONDS = 1;
const MIB = 1024 * 1024;

/**
 * Counter of the bytes of one body in memory. When the response has ended, the app calls `release`. Until then, the bytes count against the
 * bounds.
 */
export interface HeldSpace extends BodySpace {
  release(): void;
}

/** Numbers about the request bodies of this process, for the metrics. */
export interface BodyCounts {
  /** Number of body bytes that count against the bounds now. Small bodies of authenticated callers are not counted. */
  heldBytes: number;
  /** Number of refused bodies since the start of the process, by the bound that each body would have exceeded. */
  refused: Record<Bound, number>;
}

type Bound = 'caller' | 'tenant' | 'process';

/** Counts the bytes of request bodies that are in memory, and refuses a body that would exceed a bound. */
export class BodyBudget {
  readonly #bounds: BodyBounds;
  readonly #heldByTenant = new Map<string, number>();
  readonly #heldByCaller = new Map<string, number>();
  readonly counts: BodyCounts = { heldBytes: 0, refused: { caller: 0, tenant: 0, process: 0 } };

  constructor(bounds: BodyBounds) {
    this.#bounds = bounds;
  }

  /** Returns a new counter for the bytes of one body of this account. */
  spaceFor({ tenant, caller }: Account): HeldSpace {
    const account = { tenant, caller };
    // A body of an authenticated caller is counted only if it is larger than 64 KiB. A body of an unauthenticated caller is always counted.
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
        const bound = this.#exceededBound(account, bytes - heldBytes);
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

  /**
   * Returns the name of the bound that would be exceeded if the account had this number of bytes more. Returns null if no bound would be
   * exceeded.
   */
  #exceededBound(account: Account, bytes: number): Bound | null {
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
    const owners = {
      caller: 'this caller',
      tenant: account.tenant === STRANGERS ? 'callers without credentials' : 'the callers of this tenant',
      process: 'all callers',
    };
    const limit = `${this.#limitsOf(account)[bound] / MIB} MiB`;
    const small = account.tenant === STRANGERS ? '' : ' This limit does not apply to a body of up to 64 KiB.';
    return apiError(
      'rate_limited',
      `body: with this body, ${owners[bound]} would have more than ${limit} of request bodies under way. ` +
        `Send the body again when another request has got its response.${small}`,
      { 'retry-after': String(RETRY_AFTER_SECONDS) },
    );
  }
}

function keyOf({ tenant, caller }: Account): string {
  return `${tenant} ${caller}`;
}

/** Adds bytes to the sum of one caller or tenant. Removes the entry if the sum becomes zero, so that the map stays small. */
function addTo(sums: Map<string, number>, key: string, bytes: number): void {
  const sum = (sums.get(key) ?? 0) + bytes;
  if (sum === 0) {
    sums.delete(key);
  } else {
    sums.set(key, sum);
  }
}
