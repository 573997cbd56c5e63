import { linkOptions } from '@tanstack/react-router';
import { Section } from '../../ui/page.tsx';
import { Figure, Figures } from './figure.tsx';
import type { TodayData } from './today-data.ts';

type Hotel = NonNullable<TodayData['hotel']>;

export function HotelNow({ hotel }: { hotel: Hotel }) {
  const { arrivals, arrived, departures, departed, in_house: inHouse } = hotel;
  return (
    <Section title="Hotel">
      <Figures>
        <Figure
          label="Arrivals"
          link={{ to: '/stays' }}
          value={String(arrivals)}
          note={arrivals > 0 ? restOf(arrived, arrivals, 'arrived') : undefined}
        />
        <Figure
          label="Departures"
          link={linkOptions({ to: '/stays', search: { view: 'departures' } })}
          value={String(departures)}
          note={departures > 0 ? restOf(departed, departures, 'left') : undefined}
        />
        <Figure
          label="In house"
          link={linkOptions({ to: '/stays', search: { view: 'house' } })}
          value={String(inHouse)}
          note={inHouse === 1 ? 'room' : 'rooms'}
        />
      </Figures>
    </Section>
  );
}

function restOf(done: number, all: number, word: string): string {
  return done === all ? `all ${word}` : `${done} ${word}`;
}
