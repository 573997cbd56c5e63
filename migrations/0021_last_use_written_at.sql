-- Time at which last_used_at was written. All processes read it in the UPDATE, so that they write a credential at most twice a minute
-- together. Null: last_used_at was never written, or a process of an older version wrote it.
ALTER TABLE credential ADD COLUMN last_use_written_at timestamptz;
