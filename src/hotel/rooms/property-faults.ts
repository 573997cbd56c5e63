import { isTimeZone } from '#platform/lib/dates.ts';
import { fieldsOf, listOf } from '#platform/lib/unchecked.ts';

/**
 * Checks the `properties` part of a tenant document for faults that a schema cannot find: repeated names and unknown time zones. Returns
 * each fault in the form `path: text`. Skips values that break the schema, because the check of the schema reports them. So the caller can
 * run both checks on one document, and list all faults in one message.
 */
export function propertyFaults(properties: unknown): string[] {
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
          repeatedNames(fieldsOf(roomType)['rate_plans'], `${path}.room_types.${position}.rate_plans`),
        ),
      ];
    }),
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
