import { Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { read, SOON_MS } from '../../api/reads.ts';
import { useNow } from '../../live/clock.ts';
import { useFormat } from '../../ui/format.ts';
import { Loaded } from '../../ui/loaded.tsx';

/** Calls of a partner that the service refused, in the words that the partner's developer sees. */
export function Refusals({ id }: { id: string }) {
  const query = useQuery({
    ...read('listRefusedCalls', { path: { id } }, ['credentials']),
    refetchInterval: SOON_MS,
  });
  const { moment } = useFormat();
  const now = useNow(10_000);
  return (
    <Loaded query={query} rows={2}>
      {(refusals) =>
        refusals.length === 0 ? (
          <p className="quiet">No call was refused.</p>
        ) : (
          <Stack component="ul" gap={20} m={0} p={0} fz="sm">
            {refusals.map(({ id: key, method, path, at, status, code, message, request_id }) => (
              <li key={key} style={{ display: 'block', overflowWrap: 'anywhere' }}>
                <Group justify="space-between" className="quiet">
                  <code>
                    {method} {path}
                  </code>
                  <time dateTime={at}>{moment(at, now)}</time>
                </Group>
                <strong>
                  {status} {code}
                </strong>
                : {message}
                <div className="quiet">Request {request_id}</div>
              </li>
            ))}
          </Stack>
        )
      }
    </Loaded>
  );
}
