-- transaction: off
-- The kitchen's list of unfinished orders, asked for every few seconds.
CREATE INDEX CONCURRENTLY IF NOT EXISTS restaurant_order_open ON restaurant_order (tenant_id, id)
  WHERE status NOT IN ('completed', 'cancelled');
CREATE INDEX CONCURRENTLY IF NOT EXISTS restaurant_order_by_type ON restaurant_order (tenant_id, order_type, id);
-- The next two expressions are the same as in src/platform/db/search-text.ts. They depend on no collation and no extension, so they give the same
-- result on each PostgreSQL. The index of names also has the names themselves. Otherwise PostgreSQL would read each order that it finds, because it
-- takes the value of an expression from an index only if the index has the columns of the expression too.
CREATE INDEX CONCURRENTLY IF NOT EXISTS restaurant_order_by_phone ON restaurant_order
  (tenant_id, (regexp_replace(customer_phone, '[^0-9]', '', 'g')), id) WHERE customer_phone IS NOT NULL;
CREATE INDEX CONCURRENTLY IF NOT EXISTS restaurant_order_by_name ON restaurant_order
  (tenant_id, (translate(lower(left(regexp_replace(normalize(left(customer_name, 100), NFKD), '[\u0300-\u036f]', '', 'g'), 60) COLLATE "C"), 'ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩςАБВГДЕЖЗИКЛМНОПРСТУФХЦЧШЩЪЫЬЭЮЯЂЄЅІЈЉЊЋЏҐØøŁłĐđÐðĦħŦŧÆŒÞŊıßẞ', 'αβγδεζηθικλμνξοπρστυφχψωσабвгдежзиклмнопрстуфхцчшщъыьэюяђєѕіјљњћџґoollddddhhttæœþŋiss')), id) INCLUDE (customer_name) WHERE customer_name IS NOT NULL;
