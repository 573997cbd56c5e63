-- Staff read long lists page by page, without counts. Each page examines at most 10,000 rows, so a frequent value needs no index of its own.
DROP TABLE list_tally;
-- Frequent statuses and types. `restaurant_order_open` finds the orders in the other statuses.
DROP INDEX restaurant_order_by_status;
DROP INDEX restaurant_order_by_type;
-- The keys of partners and OTAs find few stays of one source.
DROP INDEX reservation_by_room_type;
DROP INDEX reservation_of_partners;
DROP INDEX reservation_of_otas;
DROP INDEX reservation_for_lists;
-- Deliveries that were not delivered, by status, newest first. A successful delivery leaves the index, and its change of status adds no entry.
CREATE INDEX delivery_undelivered ON delivery (tenant_id, status, id) WHERE status <> 'delivered';
DROP INDEX delivery_by_status;
-- Events of a rare type, for the lists of events and of deliveries. `event_in_feed` finds the events of one credential.
CREATE INDEX event_by_type ON event (tenant_id, type, id);
DROP INDEX event_by_kind;
