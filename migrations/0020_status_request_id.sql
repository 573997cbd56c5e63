-- Id that staff sent with the last change of the status. The same id again repeats this change, and changes nothing. Null: the last change
-- of the status had no id.
ALTER TABLE restaurant_order ADD COLUMN status_request_id uuid;
ALTER TABLE reservation ADD COLUMN status_request_id uuid;
