/** What is to be called of each signal. Signals themselves find a listener again only by looking at all of them. */
const CALLBACKS = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls back when a signal aborts, at once where it has, until disposed of; however many wait for the same signal. */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): Disposable {
  if (!signal) return { [Symbol.dispose]: () => {} };
  if (signal.aborted) callback();
  const callbacks = CALLBACKS.get(signal) ?? callbacksOf(signal);
  callbacks.add(callback);
  return { [Symbol.dispose]: () => void callbacks.delete(callback) };
}

function callbacksOf(signal: AbortSignal): Set<() => void> {
  const callbacks = new Set<() => void>();
  CALLBACKS.set(signal, callbacks);
  const call = () => {
    for (const callback of callbacks) callback();
  };
  signal.addEventListener('abort', call, { once: true });
  return callbacks;
}
