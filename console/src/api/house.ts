import { useQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { useNow } from '../live/clock.ts';
import { dayIn } from '../ui/format.ts';
import type { Answer } from './client.ts';
import { read } from './reads.ts';
import { useMe } from './session.ts';

export type Property = Answer<'listProperties'>[number];
export type RoomType = Property['room_types'][number];

export type House = ReturnType<typeof useHouse>;

export function useHouse() {
  const { data: properties } = useQuery(read('listProperties', {}, ['rooms', 'rates']));
  const { timezone } = useMe().tenant;
  const now = useNow(30_000);
  return useMemo(() => houseOf(properties, timezone, now), [properties, timezone, now]);
}

function houseOf(properties: Property[] | undefined, timezone: string, now: number) {
  const all = properties ?? [];
  const propertyOf = (typeId: string) => all.find(({ room_types: types }) => types.some(({ id }) => id === typeId));
  const roomTypeOf = (id: string) => propertyOf(id)?.room_types.find((type) => type.id === id);
  const todayIn = (property: Property | undefined) => dayIn(now, (property ?? all[0])?.timezone ?? timezone);
  return {
    /** Undefined until they are known. */
    properties,
    roomTypeOf,
    /** Name of a room type, with its property if there are several. */
    nameOf: (typeId: string) => {
      const name = roomTypeOf(typeId)?.name ?? 'A former room type';
      const property = all.length > 1 && propertyOf(typeId)?.name;
      return property ? `${name}, ${property}` : name;
    },
    /** Today at a property, or at the first one. */
    todayAt: (propertyId: string | undefined) => todayIn(all.find(({ id }) => id === propertyId)),
    /** Today at the property of a stay. */
    todayOf: ({ room_type_id: typeId }: { room_type_id: string }) => todayIn(propertyOf(typeId)),
  };
}
