import { Box, Stack, Text } from '@mantine/core';
import type { Answer } from '../../api/client.ts';
import { formatDate, weekday } from '../../ui/format.ts';
import { Section } from '../../ui/page.tsx';
import classes from './today.module.css';

type Night = NonNullable<Answer<'getToday'>['hotel']>['nights'][number];

const COLUMNS = { gridTemplateColumns: 'repeat(14, minmax(0, 1fr))', gap: '0.5%' };

/** Rooms held of capacity on each of the next 14 nights, as bars. */
export function Nights({ nights }: { nights: Night[] }) {
  const held = nights.reduce((sum, night) => sum + night.held, 0);
  const all = nights.reduce((sum, night) => sum + night.capacity, 0);
  const share = all > 0 && `${Math.round((held / all) * 100)}% of ${nights[0]?.capacity} rooms held`;
  return (
    <Section title="Next 14 nights" aside={<p className="quiet">{share}</p>}>
      <div className={classes.panel}>
        <Box
          component="ol"
          display="grid"
          m={0}
          px={{ base: 8, sm: 16 }}
          py={12}
          fz={{ base: 10, sm: 12 }}
          style={COLUMNS}
        >
          {nights.map((night) => (
            <Bar key={night.date} {...night} />
          ))}
        </Box>
      </div>
    </Section>
  );
}

function Bar({ date, held, capacity }: Night) {
  const day = new Date(`${date}T00:00:00Z`);
  const isWeekend = [5, 6].includes(day.getUTCDay());
  const tone = held > capacity ? 'late' : 'accent';
  const share = capacity === 0 ? 0 : Math.min(100, (held / capacity) * 100);
  const background = `linear-gradient(to top, var(--rs-${tone}) ${share}%, var(--rs-sunken) 0)`;
  return (
    <Stack
      component="li"
      gap={0}
      align="center"
      lh={1.35}
      c={isWeekend ? undefined : 'dimmed'}
      fw={isWeekend ? 600 : undefined}
      title={`${formatDate(date, 'weekday')}: ${held} of ${capacity} rooms`}
    >
      <Text inherit fw={700} c={tone === 'late' ? 'var(--rs-late)' : 'var(--rs-text)'}>
        {held}
      </Text>
      <Box w="100%" maw={44} h={88} mt={4} mb={6} bdrs={5} style={{ background }} aria-hidden="true" />
      <span className="visually-hidden">of {capacity} rooms,</span>
      <span>{weekday.format(day)}</span>
      <span>{day.getUTCDate()}</span>
    </Stack>
  );
}
