import { Button } from '@mantine/core';
import { Detail, Facts } from '../../ui/detail.tsx';
import { changeAvailability, type Dish, isOn, type Menu } from '../../ui/dishes.ts';
import { Empty } from '../../ui/loaded.tsx';
import { plural, useFormat } from '../../ui/format.ts';
import { Note } from '../../ui/status.tsx';
import { Section } from '../../ui/page.tsx';

export function DishDetail({ sku, menu, onClose }: { sku: string | undefined; menu: Menu; onClose: () => void }) {
  const dish = menu.dishes.find((each) => each.sku === sku);
  return (
    <Detail
      title={dish?.name ?? 'Dish'}
      isOpen={sku !== undefined}
      onClose={onClose}
      actions={
        dish && (
          <>
            <Button onClick={() => void changeAvailability([dish], !isOn(dish))}>
              {isOn(dish) ? 'Take it off the menu' : 'Put it on the menu'}
            </Button>
            <Button variant="default" component="a" href="/docs/guides/orders/#the-menu">
              What partners are told
            </Button>
          </>
        )
      }
    >
      {dish === undefined ? <Empty title={`No dish has the SKU ${sku}.`} /> : <AsPartnersSee dish={dish} menu={menu} />}
    </Detail>
  );
}

function AsPartnersSee({ dish, menu }: { dish: Dish; menu: Menu }) {
  const { money } = useFormat();
  const { description, dish_type: diet, image, price_variants: variants = [], addons = [] } = dish;
  const offered = addons.filter(({ is_active: isActive }) => isActive !== false);
  const set = menu.menu_sets?.find(({ name }) => name === dish.menu_set);
  const tax = dish.is_taxable === false ? 0 : Number(dish.extra_tax_percentage ?? 0);
  return (
    <>
      {isOn(dish) ? (
        <p style={{ marginTop: 0 }}>This is what partners get of the dish.</p>
      ) : (
        <Note>Off the menu: partners do not see the dish now, and orders with it are refused.</Note>
      )}
      {description && <p>{description}</p>}
      <Facts
        facts={[
          ['Price', `${money(dish.price)}${tax > 0 ? `, plus ${tax}% tax` : ''}`],
          diet ? ['Diet', diet.replace('_', ' ')] : null,
          ['Ordered as', <code>{dish.sku}</code>],
          ['Category', dish.category],
          ['Sub-menu', dish.sub_menu],
          ['Menu set', dish.menu_set],
          ['Served', set?.service?.replace('_', ' ')],
          ['Kitchen', dish.kitchen],
          image ? ['Picture', image] : null,
        ]}
      />
      <Choices title="Variants, each instead of the price above" choices={variants} />
      <Choices title="Add-ons, on top of the price" choices={offered} />
      {offered.length < addons.length && (
        <Note>Partners do not see {plural(addons.length - offered.length, 'add-on')} that you keep off the menu.</Note>
      )}
    </>
  );
}

type Choice = Pick<Dish, 'name' | 'price' | 'dish_type'>;

function Choices({ title, choices }: { title: string; choices: Choice[] }) {
  const { money } = useFormat();
  if (choices.length === 0) return null;
  const facts = choices.map(({ name, price, dish_type: diet }) => {
    const label = diet ? `${name} (${diet.replace('_', ' ')})` : name;
    return [label, Number(price) === 0 ? 'free' : money(price)] as const;
  });
  return (
    <Section title={title}>
      <Facts areAmounts facts={facts} />
    </Section>
  );
}
