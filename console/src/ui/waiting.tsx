import { Skeleton } from '@mantine/core';
import { useEffect, useState } from 'react';

/** Skeleton of a list that is not known yet. It appears after 150 ms, so a quick answer does not flicker. */
export function Waiting({ rows = 6 }: { rows?: number }) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), 150);
    return () => clearTimeout(timer);
  }, []);
  if (!isShown) return null;
  return (
    <div role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, index) => (
        <Skeleton key={index} height={40} radius={6} mb={8} />
      ))}
    </div>
  );
}
