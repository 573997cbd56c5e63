/** Time limit in milliseconds for each server that `config check` tries. */
export const TRY_LIMIT_MS = 5_000;

/**
 * Result of a try to use a server or a database. All texts are sentences for the operator. The try has failed if there is at least one
 * fault.
 */
export interface Findings {
  details: string[];
  faults: string[];
}
