-- Rises with every new password: a token that names another generation opens nothing any more.
ALTER TABLE app_user ADD COLUMN generation integer NOT NULL DEFAULT 0;

-- What the last tenant document said of the user: what it says again is not written again, so that a role or a password that was
-- changed by other means stays. The hash is the one that the document set; null while the document names no password. A user made
-- by other means than a document says so (false). Code that knows no such column makes and disables users by documents only.
ALTER TABLE app_user
  ADD COLUMN is_in_document boolean NOT NULL DEFAULT true,
  ADD COLUMN document_role text,
  ADD COLUMN document_password_hash text;
UPDATE app_user SET document_role = role, document_password_hash = password_hash WHERE is_active;
UPDATE app_user SET is_in_document = false WHERE NOT is_active;
