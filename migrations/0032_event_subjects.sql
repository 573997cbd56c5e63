-- Order or reservation that the event reports, as {type, id, external_id}. Null: an earlier version wrote the event.
ALTER TABLE event ADD COLUMN subject json;
-- Texts of the first bytes of the responses to failed attempts, keyed by the number of the attempt. They are not in `attempts`, so that the
-- lists do not read them. Null: no response was kept.
ALTER TABLE delivery ADD COLUMN answers jsonb;
