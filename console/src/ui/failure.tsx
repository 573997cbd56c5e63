import { Button, Input } from '@mantine/core';
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

/** Why the service has refused a form, in its own words and in place. Nothing while there is no refusal. */
export function Refusal({ children }: { children: string | null | undefined }) {
  if (!children) return null;
  return (
    <Input.Error role="alert" size="sm" mt="sm">
      {children}
    </Input.Error>
  );
}

function titleOf(error: Error): string {
  if (error instanceof Unreachable) return 'No connection';
  if (error instanceof Refused && error.status === 403) return 'Not for you';
  if (error instanceof Refused && error.status === 404) return 'Not found';
  return 'That did not work';
}
