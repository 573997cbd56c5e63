import { Button } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation } from '@tanstack/react-query';
import { call } from '../../api/client.ts';
import { useNow } from '../../live/clock.ts';
import { commandsOf, useCommands } from '../../ui/commands.ts';

const GUESTS = { orders: 18, stays: 40 };

/** Sends simulated guests to the demo, within a minute. */
export function MakeBusy() {
  const now = useNow();
  const { mutate, data, isPending } = useMutation({
    mutationFn: () => call('makeBusy', { body: GUESTS }),
    onError: ({ message }) => notifications.show({ color: 'red', message }),
  });
  const secondsLeft = data === undefined ? 0 : Math.ceil((Date.parse(data.until) - now) / 1_000);
  const isBusy = secondsLeft > 0;
  useCommands(commandsOf('Demo', [['b', 'Make it busy', mutate]]));
  return (
    <Button loading={isPending} disabled={isBusy} onClick={() => mutate()}>
      {isBusy ? `Guests are coming, ${secondsLeft} s` : 'Make it busy'}
    </Button>
  );
}
