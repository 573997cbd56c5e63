import { Button, Group, Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useRef, useState } from 'react';
import { useMe } from '../../api/session.ts';
import { serverNow } from '../../live/clock.ts';
import { ChipChoice } from '../../ui/chips.tsx';
import { useCommands } from '../../ui/commands.ts';
import { download } from '../../ui/csv.ts';
import { changeAvailability, type Dish, isOn, menuQuery } from '../../ui/dishes.ts';
import { Empty } from '../../ui/empty.tsx';
import { Failure } from '../../ui/failure.tsx';
import { plural, useFormat } from '../../ui/format.ts';
import { Page } from '../../ui/page.tsx';
import { focusedKey, focusInRow, useRowKeys } from '../../ui/row-keys.ts';
import { SearchField } from '../../ui/search-field.tsx';
import { type Column, Table } from '../../ui/table.tsx';
import { Tick } from '../../ui/tick.tsx';
import { undoLast } from '../../ui/undo-notice.tsx';
import { Waiting } from '../../ui/waiting.tsx';
import { DishDetail } from './dish-detail.tsx';
import { ImportMenu } from './import-menu.tsx';
import classes from './menu.module.css';
import { Price } from './price.tsx';
import type { MenuSearch } from './search.ts';

const route = getRouteApi('/shell/menu');
const SHOW = [
  { value: 'on', label: 'On the menu' },
  { value: 'off', label: 'Off the menu' },
] as const;

/** All dishes of the house by category: their prices, and whether partners can order them. */
export function Menu() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: menu, error, refetch } = useQuery(menuQuery);
  const { dayOf } = useFormat();
  const picker = useRef<HTMLInputElement>(null);
  const pick = () => picker.current?.click();
  const set = (change: MenuSearch) =>
    // A filter is no place to come back to, but a dish is.
    void navigate({ search: (present) => ({ ...present, ...change }), replace: !('open' in change) });
  useCommands([{ id: 'import menu', label: 'Import a menu', group: 'Menu', keys: 'i', run: pick }]);
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
          <SearchField
            label="Search the menu"
            placeholder="Name or SKU"
            value={search.text}
            onChange={(text) => set({ text })}
          />
          <Select
            aria-label="Category"
            placeholder="All categories"
            clearable
            searchable
            w={200}
            value={search.category ?? null}
            data={[...new Set(menu?.dishes.map(({ category }) => category))]}
            onChange={(category) => set({ category: category ?? undefined })}
          />
          <ChipChoice label="Dishes" options={SHOW} value={search.show} onChange={(show) => set({ show })} />
        </>
      }
    >
      {menu === undefined && (error === null ? <Waiting /> : <Failure error={error} retry={() => void refetch()} />)}
      {isEmpty && <NoDishes onImport={pick} />}
      {menu && !isEmpty && <Dishes dishes={menu.dishes} search={search} set={set} />}
      {menu && <DishDetail sku={search.open} menu={menu} onClose={() => set({ open: undefined })} />}
      <ImportMenu picker={picker} />
    </Page>
  );
}

interface DishesProps {
  dishes: Dish[];
  search: MenuSearch;
  set: (change: MenuSearch) => void;
}

function Dishes({ dishes, search, set }: DishesProps) {
  const { currency } = useMe().tenant;
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const groups = useMemo(
    () =>
      Map.groupBy(
        dishes.filter((dish) => passes(dish, search)),
        ({ category }) => category,
      ),
    [dishes, search],
  );
  const shown = [...groups.values()].flat();
  const chosen = dishes.filter(({ sku }) => selected.has(sku));
  const areSelected = (some: Dish[]) => some.every(({ sku }) => selected.has(sku));
  const select = (some: Dish[]) => {
    const skus = new Set(some.map(({ sku }) => sku));
    setSelected(areSelected(some) ? selected.difference(skus) : selected.union(skus));
  };
  const change = (some: Dish[], isActive: boolean) => {
    setSelected(new Set());
    void changeAvailability(some, isActive);
  };
  const focused = () => dishes.filter(({ sku }) => sku === focusedKey());
  const keys = {
    x: ['Select the dish', () => select(focused())],
    X: ['Select its category', () => select(focused().flatMap(({ category }) => groups.get(category) ?? []))],
    m: ['Take off the menu, or put on it', () => turn(chosen.length > 0 ? chosen : focused())],
    p: ['Change the price', () => focusInRow('input[inputmode]')],
    u: ['Undo', undoLast],
  } as const;
  const turn = (some: Dish[]) => change(some, !some.some(isOn));
  const commands = Object.entries(keys).map(([key, [label, run]]) => ({
    id: label,
    label,
    group: 'Menu',
    keys: key,
    run,
  }));
  useCommands(search.open === undefined ? commands : []);
  useRowKeys(search.open === undefined);
  const selectTick = (label: string, some: Dish[]) => (
    <Tick label={`Select ${label}`} isOn={areSelected(some)} onChange={() => select(some)} />
  );
  const columns: Column<Dish>[] = [
    {
      label: 'Select',
      head: selectTick('all that are shown', shown),
      isControl: true,
      cell: (dish) => selectTick(dish.name, [dish]),
    },
    {
      label: 'Dish',
      cell: (dish) => (
        <span className={classes.name} data-on={isOn(dish)}>
          {dish.name}
        </span>
      ),
    },
    { label: 'SKU', isWideOnly: true, cell: ({ sku }) => <code>{sku}</code> },
    { label: 'Variants', isNumber: true, isWideOnly: true, cell: (dish) => dish.price_variants?.length || '' },
    { label: 'Add-ons', isNumber: true, isWideOnly: true, cell: (dish) => dish.addons?.length || '' },
    { label: currency, isNumber: true, isControl: true, cell: (dish) => <Price dish={dish} /> },
    {
      label: 'On the menu',
      isNumber: true,
      isControl: true,
      cell: (dish) => (
        <Tick
          label={`${dish.name} on the menu`}
          isSwitch
          isOn={isOn(dish)}
          onChange={() => change([dish], !isOn(dish))}
        />
      ),
    },
  ];
  if (shown.length === 0) {
    const showAll = () => set({ text: undefined, category: undefined, show: undefined });
    return <Empty title="No dish passes these filters." action={<Button onClick={showAll}>Show all dishes</Button>} />;
  }
  return (
    <>
      <Table
        label="Dishes"
        columns={columns}
        rows={shown}
        keyOf={({ sku }) => sku}
        openKey={search.open}
        onOpen={({ sku }) => set({ open: sku })}
        groupOf={({ category }) => category}
        groupAside={(category) => selectTick(`all of ${category}`, groups.get(category) ?? [])}
      />
      {chosen.length > 0 && (
        <div className={classes.bar} role="region" aria-label="Selected dishes">
          <b>{plural(chosen.length, 'dish', 'dishes')}</b>
          <Button onClick={() => change(chosen, false)}>Take off the menu</Button>
          <Button onClick={() => change(chosen, true)}>Put on the menu</Button>
          <Button variant="default" onClick={() => setSelected(new Set())}>
            Clear
          </Button>
        </div>
      )}
    </>
  );
}

function passes(dish: Dish, { category, text = '', show }: MenuSearch): boolean {
  return (
    (category === undefined || dish.category === category) &&
    (show === undefined || isOn(dish) === (show === 'on')) &&
    `${dish.name}\n${dish.sku}`.toLowerCase().includes(text.toLowerCase())
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

/** The example of the API's own description. */
async function downloadExample(): Promise<void> {
  const { components } = await (await fetch('/openapi/staff.json')).json();
  downloadJson('menu-example.json', components.schemas.MenuDocument.examples[0]);
}

function downloadJson(name: string, document: unknown): void {
  download(name, JSON.stringify(document, null, 2), 'application/json');
}
