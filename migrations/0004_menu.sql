-- What dishes are sorted into (kitchens, categories, sub-menus, menu sets): small, written and read whole.
CREATE TABLE menu (
  tenant_id  bigint NOT NULL PRIMARY KEY REFERENCES tenant (id),
  version    bigint NOT NULL,
  sections   jsonb NOT NULL
);

-- A dish is never deleted, only made inactive. Its variants and add-ons live and die with it, so they are in its row.
CREATE TABLE dish (
  tenant_id            bigint NOT NULL REFERENCES menu (tenant_id),
  id                   uuid NOT NULL,
  sku                  text COLLATE "C" NOT NULL,
  position             integer NOT NULL,
  name                 text NOT NULL,
  description          text NOT NULL,
  dish_type            text,
  price                numeric(10, 2) NOT NULL CHECK (price >= 0),
  is_active            boolean NOT NULL,
  is_taxable           boolean NOT NULL,
  extra_tax_percentage numeric(5, 2) NOT NULL CHECK (extra_tax_percentage >= 0),
  image                text,
  category             text NOT NULL,
  sub_menu             text NOT NULL,
  kitchen              text NOT NULL,
  menu_set             text NOT NULL,
  price_variants       jsonb NOT NULL,
  addons               jsonb NOT NULL,
  ingredients          jsonb NOT NULL,
  PRIMARY KEY (tenant_id, id),
  UNIQUE (tenant_id, sku)
);
