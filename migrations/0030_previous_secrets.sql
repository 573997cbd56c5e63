-- Secret that a rotation has replaced, and that still works until the end of the overlap (decision 41). Null hash: no previous secret works.
-- The hash also covers the hash of the present secret. So the previous secret ends when the present secret is replaced, also by a process of
-- the version before, which does not know these columns.
ALTER TABLE credential
  ADD COLUMN previous_secret_hash bytea,
  ADD COLUMN previous_secret_ends_at timestamptz;
