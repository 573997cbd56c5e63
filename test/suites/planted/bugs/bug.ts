/**
 * One replacement of a text in a file. A planted bug makes one or more such replacements. The text `find` must occur in
 * the file exactly once.
 */
interface Edit {
  file: string;
  find: string;
  replace: string;
}

export interface Bug {
  name: string;
  /** Damage that the bug would do to users of the service. */
  harm: string;
  edits: Edit[];
  /** Test files that run with the bug in the code. At least one of their tests must fail. */
  suites: string[];
}
