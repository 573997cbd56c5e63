import { send } from '../api/client.ts';
import type { Topic } from '../api/reads.ts';

export type StreamItem =
  | { kind: 'beat'; at: number }
  | { kind: 'resync' }
  | { kind: 'change'; topics: Topic[] }
  | { kind: 'bye'; retryMs: number };

/** A stream that says nothing for this long is dead, whatever the socket says. The service beats every 10 s. */
export const SILENCE_MS = 25_000;

/**
 * Opens `GET /v1/staff/changes/` and yields what it says until it ends. It is read with `fetch`, because an `EventSource` hides 401 and 429.
 * @throws Refused, Unreachable, and an error if the stream is silent for 25 s
 */
export async function* watchChanges(signal: AbortSignal): AsyncGenerator<StreamItem> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), SILENCE_MS);
  try {
    const response = await send('watchChanges', {}, { signal: AbortSignal.any([signal, silence.signal]) });
    const body = response.body as ReadableStream<BufferSource>;
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
      const { done, value } = await reader.read();
      if (done) {
        return;
      }
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), SILENCE_MS);
      const blocks = (rest + value).split('\n\n');
      rest = blocks.pop() ?? '';
      yield* blocks.flatMap(itemOf);
    }
  } finally {
    clearTimeout(timer);
    silence.abort();
  }
}

function itemOf(block: string): StreamItem[] {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
  const beat = /^: beat (\d+)/m.exec(block);
  if (beat) return [{ kind: 'beat', at: Number(beat[1]) }];
  switch (field('event')) {
    case 'resync':
      return [{ kind: 'resync' }];
    case 'change':
      return [{ kind: 'change', topics: (JSON.parse(field('data') ?? '{}') as { topics?: Topic[] }).topics ?? [] }];
    case 'bye':
      return [{ kind: 'bye', retryMs: Number(field('retry') ?? 1_000) }];
    default:
      return [];
  }
}
