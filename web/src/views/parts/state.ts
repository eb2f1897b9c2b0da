// State of what a view shows.

import { useState } from "preact/hooks";

/**
 * State that belongs to a key, and begins anew with another one. An effect that sets it anew may run late, in a
 * background tab or on a slow machine, and then undo what the user has done since.
 */
export function useStateOf<T>(key: string, begin: () => T): [T, (next: T | ((was: T) => T)) => void] {
  const [kept, keep] = useState(() => ({ key, value: begin() }));
  const valueOf = (k: typeof kept): T => (k.key === key ? k.value : begin());
  return [valueOf(kept), (next) => keep((was) => ({ key, value: next instanceof Function ? next(valueOf(was)) : next }))];
}
