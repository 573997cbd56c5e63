import { Button, Group, Kbd, Paper, Stack } from '@mantine/core';
import { undo, useMoves } from './moves.ts';
import { STATUS } from './statuses.ts';
import classes from './undo-tray.module.css';

/** What has been pressed in the last seconds, and the way back. On a phone, the card itself may be out of sight. */
export function UndoTray() {
  const waiting = [...useMoves().values()].filter(({ phase }) => phase === 'undo').slice(-3);
  return (
    <Stack className={classes.tray} gap={6} role="status">
      {waiting.map(({ order: { order_id: id, number, status, status_changed_at: at } }) => (
        <Paper key={`${id} ${at}`} className={classes.line} withBorder shadow="lg" p="4px 4px 4px 16px">
          <Group justify="space-between">
            <span>
              <b>#{number}</b> {STATUS[status].label}
            </span>
            <Button h={44} variant="subtle" rightSection={<Kbd aria-hidden="true">u</Kbd>} onClick={() => undo(id)}>
              Undo{' '}
              <span className="visually-hidden">
                {STATUS[status].label.toLowerCase()} of {number}
              </span>
            </Button>
          </Group>
          <Countdown />
        </Paper>
      ))}
    </Stack>
  );
}

/** A line that runs out with the time for Undo. */
export function Countdown() {
  return <span className={classes.countdown} aria-hidden="true" />;
}
