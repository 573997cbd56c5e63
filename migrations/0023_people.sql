-- Name of the person for other people of the tenant. Null: the person is shown by e-mail address.
ALTER TABLE app_user ADD COLUMN name text;
-- Parts of the staff API that a member of the staff may use. Owners may use all parts, so their areas are not read. The previous version
-- inserts no value, so the default is what staff could do before: all areas but `rates`.
ALTER TABLE app_user ADD COLUMN areas text[] NOT NULL DEFAULT ARRAY['orders', 'menu', 'hotel', 'deliveries'];
-- A statement of its own, because a cluster refuses ADD COLUMN with a CHECK.
ALTER TABLE app_user ADD CONSTRAINT app_user_areas_check
  CHECK (areas <@ ARRAY['orders', 'menu', 'hotel', 'rates', 'deliveries']);
