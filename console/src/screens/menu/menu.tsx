import { Button, Group } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useCallback, useMemo, useRef } from 'react';
import { useMe } from '../../api/session.ts';
import { serverNow } from '../../live/clock.ts';
import { AmountField } from '../../ui/amount-field.tsx';
import { ChipToggles } from '../../ui/chips.tsx';
import { commandsOf, useCommands } from '../../ui/commands.ts';
import { download } from '../../ui/csv.ts';
import { changeAvailability, changePrice, type Dish, isOn, menuQuery } from '../../ui/dishes.ts';
import { Empty } from '../../ui/empty.tsx';
import { FilterSelect } from '../../ui/filter-select.tsx';
import { FindField } from '../../ui/find-field.tsx';
import { useFormat } from '../../ui/format.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { Page } from '../../ui/page.tsx';
import { hasAll, type Selection, SelectionBar, SelectTick, toggle, useSelection } from '../../ui/selection.tsx';
import { type Column, focusedKey, focusInRow, moveFocus, Table } from '../../ui/table.tsx';
import { Tick } from '../../ui/tick.tsx';
import { UNDO, undoLast } from '../../ui/undo-notice.tsx';
import { DishDetail } from './dish-detail.tsx';
import { ImportMenu } from './import-menu.tsx';
import type { MenuSearch } from './search.ts';

const route = getRouteApi('/shell/menu');

/** All dishes of the house by category: their prices, and whether partners can order them. */
export function Menu() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(menuQuery);
  const menu = query.data;
  const { dayOf } = useFormat();
  const picker = useRef<HTMLInputElement>(null);
  const pick = () => picker.current?.click();
  const set = useCallback<SetSearch>(
    // A filter is no place to come back to, but a dish is.
    (change) => void navigate({ search: (present) => ({ ...present, ...change }), replace: !('open' in change) }),
    [navigate],
  );
  useCommands(commandsOf('Menu', [['i', 'Import a menu', pick]]));
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
          <Button onClick={pick}>Import</Button>
        </>
      }
      filters={
        <>
          <FindField
            label="Search the menu"
            placeholder="Name or SKU"
            text={search.text}
            onFind={(text) => set({ text })}
          />
          <FilterSelect
            label="Category"
            all="All categories"
            width={200}
            isSearchable
            value={search.category}
            options={[...new Set(menu?.dishes.map(({ category }) => category))]}
            onChange={(category) => set({ category })}
          />
          <ChipToggles
            label="Shown"
            options={OFF}
            values={search.shown === 'off' ? ['off'] : []}
            onChange={([shown]) => set({ shown })}
          />
        </>
      }
    >
      <Loaded query={query}>
        {(loaded) => (
          <>
            {isEmpty ? <NoDishes onImport={pick} /> : <Dishes dishes={loaded.dishes} search={search} set={set} />}
            <DishDetail sku={search.open} menu={loaded} onClose={() => set({ open: undefined })} />
          </>
        )}
      </Loaded>
      <ImportMenu picker={picker} />
    </Page>
  );
}

const OFF = [{ value: 'off', label: 'Off the menu' }] as const;

type SetSearch = (change: MenuSearch) => void;

function Dishes({ dishes, search, set }: { dishes: Dish[]; search: MenuSearch; set: SetSearch }) {
  const selection = useSelection();
  const columns = useColumns(selection);
  const { category, text, shown } = search;
  const groups = useMemo(() => {
    return passingByCategory(shown === 'off' ? dishes.filter((dish) => !isOn(dish)) : dishes, category, text);
  }, [dishes, category, text, shown]);
  const open = useCallback(({ sku }: Dish) => set({ open: sku }), [set]);
  const isFocused = ({ sku }: Dish) => sku === focusedKey();
  const chosen = () => dishes.filter(({ sku }) => hasAll(selection, [sku]));
  const change = (some: Dish[], isActive: boolean) => {
    selection.set(new Set());
    void changeAvailability(some, isActive);
  };
  const turn = () => {
    const some = selection.get().size > 0 ? chosen() : dishes.filter(isFocused);
    change(some, !some.some(isOn));
  };
  const inFocus = () => [...groups.values()].find((some) => some.some(isFocused)) ?? [];
  const commands = commandsOf('Menu', [
    ['j', 'Next row', () => moveFocus(1)],
    ['k', 'Row before', () => moveFocus(-1)],
    ['x', 'Select the dish', () => toggle(selection, dishes.filter(isFocused).map(skuOf))],
    ['X', 'Select its category', () => toggle(selection, inFocus().map(skuOf))],
    ['m', 'Take off the menu, or put on it', turn],
    ['p', 'Change the price', () => focusInRow('input[inputmode]')],
    ['u', UNDO, undoLast],
  ]);
  useCommands(search.open === undefined ? commands : []);
  if (groups.size === 0) {
    const showAll = () => set({ text: undefined, category: undefined, shown: undefined });
    return <Empty title="No dish passes these filters." action={<Button onClick={showAll}>Show all dishes</Button>} />;
  }
  return (
    <>
      <Table
        label="Dishes"
        columns={columns}
        rows={[...groups.values()].flat()}
        keyOf={skuOf}
        openKey={search.open}
        onOpen={open}
        groupOf={(dish) => dish.category}
        groupControl={(dish) => (
          <SelectTick
            selection={selection}
            label={`all of ${dish.category}`}
            keys={groups.get(dish.category)?.map(skuOf) ?? []}
          />
        )}
      />
      <SelectionBar selection={selection} what={['dish', 'dishes']}>
        <Button onClick={() => change(chosen(), false)}>Take off the menu</Button>
        <Button onClick={() => change(chosen(), true)}>Put on the menu</Button>
      </SelectionBar>
    </>
  );
}

function skuOf({ sku }: Dish): string {
  return sku;
}

function passingByCategory(dishes: Dish[], category: string | undefined, text = ''): Map<string, Dish[]> {
  const passing = dishes.filter(
    (dish) =>
      (category === undefined || dish.category === category) &&
      `${dish.name} ${dish.sku}`.toLowerCase().includes(text.toLowerCase()),
  );
  return Map.groupBy(passing, (dish) => dish.category);
}

function useColumns(selection: Selection): Column<Dish>[] {
  const { currency } = useMe().tenant;
  const { money } = useFormat();
  return useMemo(
    () => [
      {
        label: 'Select',
        isControl: true,
        cell: ({ sku, name }) => <SelectTick selection={selection} label={name} keys={[sku]} />,
      },
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
          <Tick
            label={`${dish.name} on the menu`}
            isSwitch
            isOn={isOn(dish)}
            onChange={() => void changeAvailability([dish], !isOn(dish))}
          />
        ),
      },
    ],
    [selection, currency, money],
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
