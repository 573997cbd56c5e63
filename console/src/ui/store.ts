import { useSyncExternalStore } from 'react';

export interface Store<Value> {
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

export function useStore<Value>({ subscribe, get }: Pick<Store<Value>, 'subscribe' | 'get'>): Value {
  return useSyncExternalStore(subscribe, get);
}
