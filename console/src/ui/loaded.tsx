import { Skeleton } from '@mantine/core';
import { type ReactNode, useEffect, useState } from 'react';
import { Failure } from './failure.tsx';

/** What of a query is shown. */
export interface Query<Data> {
  data: Data | undefined;
  error: Error | null;
  refetch: () => unknown;
}

interface Props<Data> {
  query: Query<Data>;
  rows?: number;
  children: (data: Data) => ReactNode;
}

/** What a query has read. Until then it is a skeleton, or the reason why it cannot be read. */
export function Loaded<Data>({ query: { data, error, refetch }, rows, children }: Props<Data>) {
  if (data !== undefined) return children(data);
  return error === null ? <Waiting rows={rows} /> : <Failure error={error} retry={() => void refetch()} />;
}

/** Skeleton of a list that is not known yet. It appears after 150 ms, so a quick answer does not flicker. */
export function Waiting({ rows = 6 }: { rows?: number | undefined }) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), 150);
    return () => clearTimeout(timer);
  }, []);
  if (!isShown) return null;
  return (
    <div role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, index) => (
        <Skeleton key={index} height={40} mb={8} />
      ))}
    </div>
  );
}
