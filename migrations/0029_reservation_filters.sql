-- transaction: off
-- Filters of the staff's list of stays. The queries repeat the expressions (src/hotel/reservations/list-store.ts).
CREATE INDEX CONCURRENTLY IF NOT EXISTS reservation_by_change ON reservation (tenant_id, coalesce(changed_at, created_at), id);
CREATE INDEX CONCURRENTLY IF NOT EXISTS reservation_by_room_type ON reservation (tenant_id, room_type_id, id);
-- Each stay is in one of these three indexes.
CREATE INDEX CONCURRENTLY IF NOT EXISTS reservation_of_partners ON reservation (tenant_id, id) WHERE credential_id IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS reservation_of_otas ON reservation (tenant_id, id) WHERE external_source IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS reservation_of_house ON reservation (tenant_id, id)
  WHERE credential_id IS NULL AND external_source IS NULL;
-- The next two expressions are the same as in src/platform/db/search-text.ts.
CREATE INDEX CONCURRENTLY IF NOT EXISTS reservation_by_guest_name ON reservation
  (tenant_id, (translate(lower(left(regexp_replace(normalize(left(guest_name, 100), NFKD), '[\u0300-\u036f]', '', 'g'), 60) COLLATE "C"), 'ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩςАБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЂЄЅІЈЉЊЋЏҐØøŁłĐđÐðĦħŦŧÆŒÞŊıßẞ', 'αβγδεζηθικλμνξοπρστυφχψωσабвгдежзиклмнопрстуфхцчшщъыьэюяђєѕіјљњћџґoollddddhhttæœþŋiss')));
CREATE INDEX CONCURRENTLY IF NOT EXISTS reservation_by_guest_phone ON reservation
  (tenant_id, (regexp_replace(guest_phone, '[^0-9]', '', 'g'))) WHERE guest_phone IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS reservation_by_guest_email ON reservation (tenant_id, guest_email)
  WHERE guest_email IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS reservation_by_external_id ON reservation (tenant_id, external_id)
  WHERE external_id IS NOT NULL;
-- Few stays have more than 31 nights. All others that are in the hotel on a day began in the 31 days before.
CREATE INDEX CONCURRENTLY IF NOT EXISTS reservation_of_many_nights ON reservation (tenant_id, check_out)
  WHERE check_out - check_in > 31;
-- Changes of rates and capacities in the history of a night.
CREATE INDEX CONCURRENTLY IF NOT EXISTS audit_entry_by_subject ON audit_entry (tenant_id, subject, id);
