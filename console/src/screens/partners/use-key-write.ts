import { useMutation } from '@tanstack/react-query';
import { rereadTopics } from '../../api/query-client.ts';

/** A write about a key. Its answer may hold a secret, so it is kept nowhere but in what `done` makes of it. */
export function useKeyWrite<Made, Sent = void>(write: (sent: Sent) => Promise<Made>, done: (made: Made) => void) {
  const mutation = useMutation({
    mutationFn: write,
    gcTime: 0,
    onSuccess(made) {
      mutation.reset();
      done(made);
      rereadTopics(new Set(['credentials']));
    },
  });
  return mutation;
}
