interface Listening {
  readonly callbacks: Set<() => void>;
  readonly call: () => void;
}

/** What is to be called of each signal. Signals themselves find a listener again only by looking at all of them. */
const LISTENING = new WeakMap<AbortSignal, Listening>();

/** Calls back when a signal aborts, at once where it has, until disposed of; however many wait for the same signal. */
export function onAbort(signal: AbortSignal | undefined, callback: () => void): Disposable {
  if (!signal) return { [Symbol.dispose]: () => {} };
  if (signal.aborted) callback();
  const listening = LISTENING.get(signal) ?? listenTo(signal);
  listening.callbacks.add(callback);
  return {
    [Symbol.dispose]: () => {
      if (listening.callbacks.delete(callback) && listening.callbacks.size === 0) leave(signal, listening);
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

/** Node keeps a signal of several, as `AbortSignal.any` makes it, for as long as it has a listener. */
function leave(signal: AbortSignal, { call }: Listening): void {
  LISTENING.delete(signal);
  signal.removeEventListener('abort', call);
}

/**
 * Waits for a promise, but no longer than a signal lets it.
 *
 * @throws the signal's reason when it is or becomes aborted first
 */
export function raceAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}
