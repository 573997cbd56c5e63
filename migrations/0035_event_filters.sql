-- transaction: off
-- Events of a credential by type. The list of the staff joins the types and the credentials, so it needs no other index.
CREATE INDEX CONCURRENTLY IF NOT EXISTS event_by_kind ON event (tenant_id, credential_id, type, id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS delivery_by_credential ON delivery (tenant_id, credential_id, id);
-- Filters of the audit trail.
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_entry_by_action ON audit_entry (tenant_id, action, id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_entry_by_actor ON audit_entry (tenant_id, actor_id, id) WHERE actor_id IS NOT NULL;
