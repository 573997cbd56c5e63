import { Button } from '@mantine/core';
import { Refused, Unreachable } from '../api/client.ts';
import { Empty } from './empty.tsx';

/** A list or a drawer that could not be read: the service's own sentence, and a way on. */
export function Failure({ error, retry }: { error: Error; retry?: () => void }) {
  return (
    <div role="alert">
      <Empty
        title={titleOf(error)}
        action={
          retry && (
            <Button variant="default" onClick={retry}>
              Try again
            </Button>
          )
        }
      >
        {error.message}
        {error instanceof Refused && error.requestId !== null && <> Request {error.requestId}.</>}
      </Empty>
    </div>
  );
}

function titleOf(error: Error): string {
  if (error instanceof Unreachable) return 'No connection';
  if (error instanceof Refused && error.status === 403) return 'Not for you';
  if (error instanceof Refused && error.status === 404) return 'Not found';
  return 'That did not work';
}
