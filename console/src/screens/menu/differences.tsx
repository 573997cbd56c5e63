import { Text } from '@mantine/core';
import { Fragment } from 'react';
import type { Answer } from '../../api/client.ts';
import { Facts } from '../../ui/detail.tsx';
import type { Menu } from '../../ui/dishes.ts';
import { Section } from '../../ui/page.tsx';

export type Comparison = Extract<Answer<'replaceMenu'>, { taken_off: string[] }>;

/** What an import would change: dishes that are added, changed field by field, and taken off. */
export function Differences({ before, after, said }: { before: Menu; after: Menu; said: Comparison }) {
  const dishOf = ({ dishes }: Menu, sku: string) => dishes.find((dish) => dish.sku === sku);
  const nameOf = (sku: string) => (dishOf(after, sku) ?? dishOf(before, sku))?.name ?? sku;
  const names = (title: string, skus: string[]) =>
    skus.length > 0 && <Section title={`${title}: ${skus.length}`}>{skus.map(nameOf).join(', ')}</Section>;
  return (
    <>
      {names('Added', said.added)}
      {said.changed.length > 0 && (
        <Section title={`Changed: ${said.changed.length}`}>
          {said.changed.map(({ sku, fields }) => (
            <Fragment key={sku}>
              <Text fw={600} mt="xs">
                {nameOf(sku)}
              </Text>
              <Facts
                facts={fields.map((field) => [
                  field.replaceAll('_', ' '),
                  <Values from={valuesOf(dishOf(before, sku), field)} to={valuesOf(dishOf(after, sku), field)} />,
                ])}
              />
            </Fragment>
          ))}
        </Section>
      )}
      {names('Taken off', said.taken_off)}
      <p>
        {said.added.length + said.changed.length + said.taken_off.length === 0 && 'No dish changes. '}
        Categories, kitchens, sub-menus, menu sets and the order of the dishes become those of the file.
      </p>
    </>
  );
}

function Values({ from, to }: { from: string[]; to: string[] }) {
  const [gone, come] = [from.filter((each) => !to.includes(each)), to.filter((each) => !from.includes(each))];
  if (gone.length + come.length === 0) return <>details or order of the list</>;
  return (
    <>
      <del>{gone.join(', ')}</del> → <ins>{come.join(', ') || 'nothing'}</ins>
    </>
  );
}

/** A list has one text for each of its entries, so that only those are shown which differ. */
function valuesOf(dish: object | undefined, field: string): string[] {
  const value = (dish as Record<string, unknown> | undefined)?.[field] ?? '';
  return (Array.isArray(value) ? value : [value]).map(textOf).filter((text) => text !== '');
}

function textOf(value: string | boolean | { name: string; price: string; is_active?: boolean }): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'string' ? value : `${value.name} ${value.price}${value.is_active === false ? ' (off)' : ''}`;
}
