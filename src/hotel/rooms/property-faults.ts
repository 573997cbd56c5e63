import { isTimeZone } from '#platform/lib/dates.ts';
import { amountFaults } from '#platform/lib/money.ts';
import { fieldsOf, listOf } from '#platform/lib/unchecked.ts';

/**
 * Returns the faults of the `properties` part of a tenant document that a schema cannot find, as `path: text`. Skips values that break the
 * schema, because the check of the schema reports them.
 */
export function propertyFaults(properties: unknown, currency: string): string[] {
  return [
    ...repeatedNames(properties, 'properties'),
    ...listOf(properties).flatMap((property, index) => {
      const { timezone, room_types } = fieldsOf(property);
      const path = `properties.${index}`;
      const isZone = typeof timezone !== 'string' || isTimeZone(timezone);
      return [
        ...(isZone ? [] : [`${path}.timezone: must be the name of a time zone such as "Europe/Lisbon"`]),
        ...repeatedNames(room_types, `${path}.room_types`),
        ...listOf(room_types).flatMap((roomType, position) =>
          roomTypeFaults(fieldsOf(roomType), `${path}.room_types.${position}`, currency),
        ),
      ];
    }),
  ];
}

function roomTypeFaults({ base_price, rate_plans: plans }: Record<string, unknown>, path: string, currency: string) {
  const amounts = listOf(plans).map(
    (plan, index) => [`${path}.rate_plans.${index}.base_price`, fieldsOf(plan)['base_price']] as const,
  );
  return [
    ...repeatedNames(plans, `${path}.rate_plans`),
    ...amountFaults([[`${path}.base_price`, base_price], ...amounts], currency),
  ];
}

function repeatedNames(list: unknown, path: string): string[] {
  const seen = new Set<unknown>();
  return listOf(list).flatMap((entry, index) => {
    const { name } = fieldsOf(entry);
    const isRepeated = typeof name === 'string' && seen.has(name);
    seen.add(name);
    return isRepeated ? [`${path}.${index}.name: ${JSON.stringify(name)} is given twice`] : [];
  });
}
