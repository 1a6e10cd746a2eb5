interface Listening {
  readonly callbacks: Set<() => void>;
  readonly call: () => void;
}

/** Callbacks by signal. A signal's own `removeEventListener` searches its listeners linearly. */
const LISTENING = new WeakMap<AbortSignal, Listening>();

/** Calls back when a signal aborts, at once if it already has, unless disposed first. Scales to many callbacks per signal. */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): Disposable {
  if (!signal) return { [Symbol.dispose]: () => {} };
  if (signal.aborted) callback();
  const listening = LISTENING.get(signal) ?? listenTo(signal);
  listening.callbacks.add(callback);
  return {
    [Symbol.dispose]: () => {
      if (listening.callbacks.delete(callback) && listening.callbacks.size === 0) unlisten(signal, listening);
    },
  };
}

function listenTo(signal: AbortSignal): Listening {
  const callbacks = new Set<() => void>();
  const call = () => {
    for (const callback of callbacks) callback();
  };
  const listening = { callbacks, call };
  LISTENING.set(signal, listening);
  signal.addEventListener('abort', call, { once: true });
  return listening;
}

/** Node retains a signal of `AbortSignal.any` as long as it has a listener. */
function unlisten(signal: AbortSignal, { call }: Listening): void {
  LISTENING.delete(signal);
  signal.removeEventListener('abort', call);
}

/**
 * Waits for a promise until a signal aborts.
 *
 * @throws the signal's reason if it aborts first
 */
export function raceAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    const leave = () => signal.removeEventListener('abort', abort);
    promise.then(
      (value) => {
        leave();
        resolve(value);
      },
      (error: unknown) => {
        leave();
        reject(error);
      },
    );
  });
}
