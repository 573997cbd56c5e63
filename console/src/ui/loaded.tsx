import type { ReactNode } from 'react';
import { Failure } from './failure.tsx';
import { Waiting } from './waiting.tsx';

interface Props<Data> {
  query: { data: Data | undefined; error: Error | null; refetch: () => unknown };
  /** Rows of the skeleton. */
  rows?: number;
  children: (data: Data) => ReactNode;
}

/** What a query has read. Until then it is a skeleton, or the reason why it cannot be read. */
export function Loaded<Data>({ query: { data, error, refetch }, rows, children }: Props<Data>) {
  if (data !== undefined) return children(data);
  return error === null ? <Waiting rows={rows} /> : <Failure error={error} retry={() => void refetch()} />;
}
