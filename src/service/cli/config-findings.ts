/** Time limit in milliseconds for each try of a server by `config check`. */
export const TRY_LIMIT_MS = 5_000;

/** Sentences about what a try has found. The try has failed if there is a fault. */
export interface Findings {
  details: string[];
  faults: string[];
}
