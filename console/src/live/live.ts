import { send, waitMs } from '../api/client.ts';
import { rereadTopics } from '../api/query-client.ts';
import type { Topic } from '../api/reads.ts';
import { makeStore, useStore } from '../ui/store.ts';
import { serverNow, setServerTime } from './clock.ts';

/** How old a live screen is. `since`: server's time of the last sign of life of the stream, in milliseconds. */
interface Connection {
  state: 'live' | 'reconnecting' | 'offline';
  since: number;
}

type Item =
  | { kind: 'beat'; at: number }
  /** Null: anything may have changed. */
  | { kind: 'change'; topics: Topic[] | null }
  | { kind: 'bye'; retryMs: number };
/** What the tab with the stream tells the other tabs of the browser. */
type Told = Exclude<Item, { kind: 'bye' }> | { kind: 'lost' };

/** A stream that says nothing for this long is dead, whatever the socket says. The service beats every 10 s. */
const SILENCE_MS = 25_000;
/** Without a stream for this long, a screen is offline and says so in red. */
const OFFLINE_MS = 20_000;
/** Hints that arrive within this time are read together. */
const GATHER_MS = 150;
const LONGEST_WAIT_MS = 10_000;
const NAME = 'roomservice-live';

const connection = makeStore<Connection>({ state: 'reconnecting', since: serverNow() });

export function useConnection(): Connection {
  return useStore(connection);
}

/** Follows live changes until the signal aborts. Tabs of one browser share one stream where Web Locks exist. */
export function startLive(signal: AbortSignal): void {
  const channel = new BroadcastChannel(NAME);
  // oxlint-disable unicorn/require-post-message-target-origin -- a BroadcastChannel has none
  channel.addEventListener('message', ({ data }: MessageEvent<Told | { kind: 'hello' }>) => {
    if (data.kind !== 'hello') {
      take(data);
    } else if (connection.get().state === 'live') {
      channel.postMessage({ kind: 'beat', at: serverNow() } satisfies Told);
    }
  });
  channel.postMessage({ kind: 'hello' });
  const tell = (item: Told) => {
    channel.postMessage(item);
    take(item);
  };
  // oxlint-enable unicorn/require-post-message-target-origin
  const watch = async () => await followStream(signal, tell);
  const isShared = 'locks' in navigator;
  void (isShared ? navigator.locks.request(NAME, { signal }, watch) : watch()).catch(() => {});
  const timer = setInterval(noteSilence, 1_000);
  signal.addEventListener('abort', () => {
    clearInterval(timer);
    channel.close();
  });
}

async function followStream(signal: AbortSignal, tell: (item: Told) => void): Promise<void> {
  for (let failures = 0; !signal.aborted; failures += 1) {
    let pauseMs: number | undefined;
    try {
      for await (const item of watchChanges(signal)) {
        failures = 0;
        if (item.kind === 'bye') pauseMs = item.retryMs;
        else tell(item);
      }
    } catch (error) {
      pauseMs = waitMs(failures, LONGEST_WAIT_MS, error);
    }
    tell({ kind: 'lost' });
    await new Promise((resolve) => setTimeout(resolve, pauseMs ?? waitMs(failures, LONGEST_WAIT_MS)));
  }
}

/**
 * Opens `GET /v1/staff/changes/` and yields what it says until it ends. It is read with `fetch`, because an `EventSource` hides 401 and 429.
 * @throws Refused, Unreachable, and an error if the stream is silent for 25 s
 */
async function* watchChanges(signal: AbortSignal): AsyncGenerator<Item> {
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

function itemOf(block: string): Item[] {
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1];
  const beat = /^: beat (\d+)/m.exec(block);
  if (beat) return [{ kind: 'beat', at: Number(beat[1]) }];
  const event = field('event');
  if (event === 'resync') return [{ kind: 'change', topics: null }];
  if (event === 'bye') return [{ kind: 'bye', retryMs: Number(field('retry') ?? 1_000) }];
  if (event !== 'change') return [];
  return [{ kind: 'change', topics: (JSON.parse(field('data') ?? '{}') as { topics?: Topic[] }).topics ?? [] }];
}

function take(item: Told): void {
  if (item.kind === 'lost') {
    fall('live', 'reconnecting');
    return;
  }
  if (item.kind === 'beat') setServerTime(item.at);
  if (item.kind === 'change') gather(item.topics);
  connection.set({ state: 'live', since: serverNow() });
}

/** A second tab hears of beats by the first one, so it notices by itself if the first one is frozen. */
function noteSilence(): void {
  const silentMs = serverNow() - connection.get().since;
  if (silentMs > OFFLINE_MS) fall('reconnecting', 'offline');
  if (silentMs > SILENCE_MS) fall('live', 'reconnecting');
}

function fall(from: Connection['state'], to: Connection['state']): void {
  const { state, since } = connection.get();
  if (state === from) connection.set({ state: to, since });
}

let gathered: Set<Topic> | null | undefined;

function gather(topics: Topic[] | null): void {
  if (gathered === undefined) {
    setTimeout(() => {
      const named = gathered ?? null;
      gathered = undefined;
      rereadTopics(named);
    }, GATHER_MS);
    gathered = new Set();
  }
  gathered = topics === null || gathered === null ? null : gathered.union(new Set(topics));
}
