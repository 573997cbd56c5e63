-- Kind of data that the change concerns, for the people and displays that watch the tenant. Null: any data. The previous version inserts no
-- value.
ALTER TABLE recent_change ADD COLUMN topic text;
