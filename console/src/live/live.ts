import { Refused } from '../api/client.ts';
import { rereadTopics } from '../api/query-client.ts';
import type { Topic } from '../api/reads.ts';
import { makeStore, useStore } from '../ui/store.ts';
import { serverNow, setServerTime } from './clock.ts';
import { SILENCE_MS, type StreamItem, watchChanges } from './stream.ts';

/** How old a live screen is. `since`: server's time of the last sign of life of the stream, in milliseconds. */
export interface Connection {
  state: 'live' | 'reconnecting' | 'offline';
  since: number;
}

/** Without a stream for this long, a screen is offline and says so in red. */
const OFFLINE_MS = 20_000;
/** Hints that arrive within this time are read together. */
const GATHER_MS = 150;
const WAIT_MS = { shortest: 300, longest: 10_000 };
const NAME = 'roomservice-live';

/** What the tab with the stream tells the other tabs of the browser. */
type Told = StreamItem | { kind: 'lost' };

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
  let waitMs = WAIT_MS.shortest;
  while (!signal.aborted) {
    let retryMs: number | null = null;
    try {
      for await (const item of watchChanges(signal)) {
        waitMs = WAIT_MS.shortest;
        retryMs = item.kind === 'bye' ? item.retryMs : retryMs;
        tell(item);
      }
    } catch (error) {
      retryMs = error instanceof Refused && error.retryAfter !== null ? error.retryAfter * 1_000 : null;
    }
    tell({ kind: 'lost' });
    await new Promise((resolve) => setTimeout(resolve, retryMs ?? waitMs * (0.5 + Math.random() / 2)));
    waitMs = Math.min(WAIT_MS.longest, waitMs * 2);
  }
}

function take(item: Told): void {
  if (item.kind === 'lost' || item.kind === 'bye') {
    fall('live', 'reconnecting');
    return;
  }
  if (item.kind === 'beat') setServerTime(item.at);
  if (item.kind === 'resync') gather(null);
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
