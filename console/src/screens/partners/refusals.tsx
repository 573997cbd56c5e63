import { Box } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { read, SOON_MS } from '../../api/reads.ts';
import { Moment, Moments } from '../../ui/history.tsx';
import { Loaded } from '../../ui/loaded.tsx';

/** Calls of a partner that the service refused, in the words that the partner's developer sees. */
export function Refusals({ id }: { id: string }) {
  const query = useQuery({
    ...read('listRefusedCalls', { path: { id } }, ['credentials']),
    refetchInterval: SOON_MS,
  });
  return (
    <Loaded query={query} rows={2}>
      {(refusals) =>
        refusals.length === 0 ? (
          <p className="quiet">No call was refused.</p>
        ) : (
          <Moments>
            {refusals.map(({ id: key, method, path, at, status, code, message, request_id }) => (
              <Moment key={key} label={`${status} ${code}`} at={at}>
                <Box flex="1 0 100%" style={{ order: 1, overflowWrap: 'anywhere' }}>
                  {message}
                  <p className="quiet">
                    <code>
                      {method} {path}
                    </code>
                    . Request {request_id}
                  </p>
                </Box>
              </Moment>
            ))}
          </Moments>
        )
      }
    </Loaded>
  );
}
