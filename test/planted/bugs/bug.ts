/** One replacement in a file, which is a part of a planted bug. `find` must occur in the file exactly once. */
export interface Edit {
  file: string;
  find: string;
  replace: string;
}

export interface Bug {
  name: string;
  /** Damage that the bug would do to users of the service. */
  harm: string;
  edits: Edit[];
  /** Test files that must fail if the bug is in the code. */
  suites: string[];
}
