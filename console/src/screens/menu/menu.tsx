import { Button, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useMemo } from 'react';
import { useMe } from '../../api/session.ts';
import { serverNow } from '../../live/clock.ts';
import { Chips, FindField } from '../../ui/filters.tsx';
import { useCommands } from '../../ui/commands.ts';
import { download } from '../../ui/csv.ts';
import { changeAvailability, changePrice, type Dish, isOn, menuQuery } from '../../ui/dishes.ts';
import { Empty, Loaded } from '../../ui/loaded.tsx';
import { useFormat } from '../../ui/format.ts';
import { Page } from '../../ui/page.tsx';
import { useAddress } from '../../ui/search.ts';
import { type Column, focusedKey, focusInRow, moveFocus, Table } from '../../ui/table.tsx';
import { DishDetail } from './dish-detail.tsx';
import { useImport } from './import-menu.tsx';
import { AmountField, Switch } from './row-controls.tsx';
import type { MenuSearch } from './search.ts';

const OFF = [{ value: 'off', label: 'Off the menu' }] as const;

/** All dishes of the house by category: their prices, and whether partners can order them. */
export function Menu() {
  const { search, set } = useAddress<MenuSearch>('open');
  const query = useQuery(menuQuery);
  const menu = query.data;
  const { dayOf } = useFormat();
  const { choose, dialog } = useImport();
  useCommands('Menu', [['i', 'Import a menu', choose]]);
  const isEmpty = menu?.dishes.length === 0;
  return (
    <Page
      title="Menu"
      isLive
      actions={
        <>
          {menu && !isEmpty && (
            <Button variant="default" onClick={() => downloadJson(`menu-${dayOf(serverNow())}.json`, menu)}>
              Export
            </Button>
          )}
          <Button onClick={choose}>Import</Button>
        </>
      }
      filters={
        <>
          <FindField
            label="Search the menu"
            placeholder="Name, SKU or category"
            text={search.text}
            onFind={(text) => set({ text })}
          />
          <Chips
            label="Shown"
            options={OFF}
            isPressed={(value) => value === search.shown}
            onPress={(value) => set({ shown: search.shown ? undefined : value })}
          />
        </>
      }
    >
      <Loaded query={query}>
        {(loaded) => (
          <>
            {isEmpty ? <NoDishes onImport={choose} /> : <Dishes dishes={loaded.dishes} />}
            <DishDetail sku={search.open} menu={loaded} onClose={() => set({ open: undefined })} />
          </>
        )}
      </Loaded>
      {dialog}
    </Page>
  );
}

function Dishes({ dishes }: { dishes: Dish[] }) {
  const { search, set } = useAddress<MenuSearch>('open');
  const columns = useColumns();
  const { text = '', shown } = search;
  const groups = useMemo(() => {
    const passes = ({ name, sku, category }: Dish) =>
      `${name} ${sku} ${category}`.toLowerCase().includes(text.toLowerCase());
    const passing = dishes.filter((dish) => passes(dish) && !(shown && isOn(dish)));
    return Map.groupBy(passing, ({ category }) => category);
  }, [dishes, text, shown]);
  const open = useCallback(({ sku }: Dish) => set({ open: sku }), [set]);
  const isFocused = ({ sku }: Dish) => sku === focusedKey();
  const turn = (some: Dish[] = []) => void changeAvailability(some, !some.some(isOn));
  useCommands(
    'Menu',
    search.open !== undefined
      ? []
      : [
          ['j', 'Next row', () => moveFocus(1), true],
          ['k', 'Row before', () => moveFocus(-1), true],
          ['m', 'Take the dish off the menu, or put it on', () => turn(dishes.filter(isFocused))],
          ['M', 'The same for its category', () => turn([...groups.values()].find((some) => some.some(isFocused)))],
          ['p', 'Change the price', () => focusInRow('input[inputmode]')],
        ],
  );
  if (groups.size === 0) {
    const showAll = () => set({ text: undefined, shown: undefined });
    return <Empty title="No dish passes these filters." action={<Button onClick={showAll}>Show all dishes</Button>} />;
  }
  return (
    <Table
      label="Dishes"
      columns={columns}
      rows={[...groups.values()].flat()}
      keyOf={({ sku }) => sku}
      openKey={search.open}
      onOpen={open}
      groupOf={({ category }) => category}
      groupControl={({ category }) => <CategoryButtons category={category} dishes={groups.get(category) ?? []} />}
    />
  );
}

/** Takes all dishes of a category that are shown off the menu, or puts them on it. */
function CategoryButtons({ category, dishes }: { category: string; dishes: Dish[] }) {
  return [true, false]
    .filter((isActive) => dishes.some((dish) => isOn(dish) !== isActive))
    .map((isActive) => (
      <Button
        key={String(isActive)}
        variant="subtle"
        size="compact-sm"
        aria-label={`All ${isActive ? 'on' : 'off'}: ${category}`}
        onClick={() => void changeAvailability(dishes, isActive)}
      >
        All {isActive ? 'on' : 'off'}
      </Button>
    ));
}

function useColumns(): Column<Dish>[] {
  const { currency } = useMe().tenant;
  const { money } = useFormat();
  return useMemo(
    () => [
      { label: 'Dish', cell: (dish) => (isOn(dish) ? dish.name : <s>{dish.name}</s>) },
      { label: 'SKU', isWideOnly: true, cell: ({ sku }) => <code>{sku}</code> },
      { label: 'Variants', isNumber: true, isWideOnly: true, cell: (dish) => dish.price_variants?.length || '' },
      { label: 'Add-ons', isNumber: true, isWideOnly: true, cell: (dish) => dish.addons?.length || '' },
      {
        label: `Price in ${currency}`,
        isNumber: true,
        isControl: true,
        cell: (dish) => (
          <AmountField
            label={`Price of ${dish.name}`}
            value={dish.price}
            onChange={(price) => changePrice(dish, price, money)}
          />
        ),
      },
      {
        label: 'On the menu',
        isNumber: true,
        isControl: true,
        cell: (dish) => (
          <Switch
            label={`${dish.name} on the menu`}
            isOn={isOn(dish)}
            onChange={() => void changeAvailability([dish], !isOn(dish))}
          />
        ),
      },
    ],
    [currency, money],
  );
}

function NoDishes({ onImport }: { onImport: () => void }) {
  return (
    <Empty
      title="The menu has no dish yet."
      action={
        <Group>
          <Button onClick={onImport}>Import a menu</Button>
          <Button variant="default" onClick={() => void downloadExample()}>
            Download an example
          </Button>
        </Group>
      }
    >
      Partners can order nothing. Import a file with your categories and dishes: a JSON document like the example.
    </Empty>
  );
}

async function downloadExample(): Promise<void> {
  const { components } = await (await fetch('/openapi/staff.json')).json();
  downloadJson('menu-example.json', components.schemas.MenuDocument.examples[0]);
}

function downloadJson(name: string, document: unknown): void {
  download(name, JSON.stringify(document, null, 2), 'application/json');
}
