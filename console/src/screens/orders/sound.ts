import { useWindowEvent } from '@mantine/hooks';
import { useEffect, useMemo } from 'react';
import { makeKeptStore, makeStore, useStore } from '../../ui/store.ts';
import type { Order } from './statuses.ts';

/** The sound is played again after this time while a new order has not been touched. */
const AGAIN_MS = 6_000;

let audio: AudioContext | null = null;
const audioState = makeStore<AudioContextState | null>(null);
const muted = makeKeptStore('roomservice.muted', (stored) => Boolean(stored));
/** Ids of new orders that somebody has touched. They are kept, because a tablet may start again in between. */
const touched = makeKeptStore('roomservice.touched', (stored) => (Array.isArray(stored) ? (stored as unknown[]) : []));

/** Notes that a person has seen these new orders, so they ring no more. */
export function touch(...ids: string[]): void {
  const known = touched.get();
  // Orders are new for minutes, so the last ones are enough.
  if (!ids.every((id) => known.includes(id))) touched.set([...known, ...ids].slice(-500));
}

export const setMuted = muted.set;

export function useMuted(): boolean {
  return useStore(muted);
}

/** Asks the browser for sound. It agrees only within a press. */
export const allowSound = () => void audio?.resume();

function openAudio(): AudioContext {
  if (audio === null) {
    audio = new AudioContext();
    const tell = () => audioState.set(audio?.state ?? null);
    audio.addEventListener('statechange', tell);
    tell();
  }
  return audio;
}

/** Two notes, as of a bell in a kitchen. */
function chime(): void {
  const context = openAudio();
  for (const [note, delay] of [
    [880, 0],
    [1174.66, 0.16],
  ] as const) {
    const at = context.currentTime + delay;
    const oscillator = new OscillatorNode(context, { type: 'triangle', frequency: note });
    const loudness = new GainNode(context, { gain: 0 });
    loudness.gain.setValueAtTime(0, at);
    loudness.gain.linearRampToValueAtTime(0.5, at + 0.01);
    loudness.gain.exponentialRampToValueAtTime(0.001, at + 0.7);
    oscillator.connect(loudness).connect(context.destination);
    oscillator.start(at);
    oscillator.stop(at + 0.75);
  }
}

export type Sound = ReturnType<typeof useSound>;

export function useSound(newOrders: readonly Order[]) {
  const seen = useStore(touched);
  const isMuted = useMuted();
  const state = useStore(audioState);
  useEffect(() => {
    if (!isMuted) openAudio();
  }, [isMuted]);
  // A press anywhere counts for the browser, so nobody has to find the bar.
  useWindowEvent('pointerdown', allowSound);
  useWindowEvent('keydown', allowSound);
  const ringing: ReadonlySet<string> = useMemo(
    () => new Set(newOrders.map(({ order_id: id }) => id).filter((id) => !seen.includes(id))),
    [newOrders, seen],
  );
  const rings = ringing.size > 0 && !isMuted && state === 'running';
  useEffect(() => {
    if (!rings) return;
    chime();
    const timer = setInterval(chime, AGAIN_MS);
    return () => clearInterval(timer);
    // A further order rings at once.
  }, [rings, ringing.size]);
  return {
    isMuted,
    /** The browser holds sound back until somebody presses something. */
    isHeldBack: !isMuted && state === 'suspended',
    ringing,
  };
}
