-- A credential's feed is numbered when it is read: an event that was committed late comes after all that were read before.
CREATE TABLE event_feed (
  tenant_id     bigint NOT NULL,
  credential_id uuid NOT NULL,
  last_position bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (tenant_id, credential_id),
  FOREIGN KEY (tenant_id, credential_id) REFERENCES credential (tenant_id, id)
);

-- Null: not read yet.
ALTER TABLE event ADD COLUMN feed_position bigint;
CREATE INDEX event_in_feed ON event (tenant_id, credential_id, feed_position, id);
