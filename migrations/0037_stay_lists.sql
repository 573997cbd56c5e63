-- transaction: off
-- Filters of the staff's list of stays that many stays pass. The index has all their columns in the order of the list, so PostgreSQL counts and
-- skips stays without reading them.
CREATE INDEX CONCURRENTLY IF NOT EXISTS reservation_for_lists ON reservation (tenant_id, id)
  INCLUDE (status, credential_id, external_source, room_type_id, check_in, changed_at, created_at);
