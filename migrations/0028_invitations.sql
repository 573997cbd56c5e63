-- Time until which an invitation holds the e-mail address. After this time another invitation may take the address, also one of another tenant.
-- Null: the address belongs to an account. The previous version reads every row as an account, so it refuses the address in both cases.
ALTER TABLE sign_in ADD COLUMN held_until timestamptz;

-- Generation of the person when the link was made. The link ends when the generation rises, for example with a new password or when the person is
-- disabled.
ALTER TABLE one_time_link ADD COLUMN generation integer NOT NULL DEFAULT 0;
