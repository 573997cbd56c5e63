-- Which tenants changed lately: tells every node what to forget. Global table: each node reads it whole, a few times a second.
CREATE TABLE recent_change (
  id         uuid PRIMARY KEY,
  tenant_id  bigint NOT NULL,
  changed_at timestamptz NOT NULL DEFAULT now()
);

CREATE INDEX recent_change_by_time ON recent_change (changed_at);
