-- transaction: off
-- The owner's report of days. The index has all the columns that the report adds up, so the report does not read the orders themselves, whose
-- lines are long.
CREATE INDEX CONCURRENTLY IF NOT EXISTS restaurant_order_for_report ON restaurant_order (tenant_id, id)
  INCLUDE (credential_id, total, currency) WHERE status <> 'cancelled';
