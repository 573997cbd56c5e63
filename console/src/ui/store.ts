import { useSyncExternalStore } from 'react';

interface Store<Value> {
  get: () => Value;
  set: (next: Value) => void;
  subscribe: (listener: () => void) => () => void;
}

/** A value that outlives components and that they follow by `useStore`. */
export function makeStore<Value>(value: Value): Store<Value> {
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      value = next;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** A store that this browser keeps. `valueOf` makes a value of what is stored, which anybody may have changed. */
export function makeKeptStore<Value>(key: string, valueOf: (stored: unknown) => Value): Store<Value> {
  const store = makeStore(valueOf(readStored(key)));
  return {
    ...store,
    set(next) {
      localStorage.setItem(key, JSON.stringify(next));
      store.set(next);
    },
  };
}

function readStored(key: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(key) ?? 'null');
  } catch {
    return null;
  }
}

export function useStore<Value>({ subscribe, get }: Pick<Store<Value>, 'subscribe' | 'get'>): Value {
  return useSyncExternalStore(subscribe, get);
}
