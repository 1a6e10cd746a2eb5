/** What a controller says of a key that it has reconciled. */
export interface ReconcileResult {
  /** Has the key reconciled again after this long, though nothing changed. */
  readonly requeueAfterMs?: number | undefined;
}

/** Nothing is left to do until something changes. */
export const DONE: ReconcileResult = {};

/** Something whose changes a controller follows, as an informer does. */
export interface Watched {
  /** Calls back with the key of everything that is there, and of everything that changes; gives back what ends that. */
  onChange(
    listener: (change: { readonly key: string }) => void,
    options: { readonly replay: true },
  ): () => void;
  /** Comes back once all that is there is known. */
  synced(signal: AbortSignal): Promise<void>;
}

/**
 * Makes the world what objects say that it should be, one object at a time.
 *
 * It is level-triggered: reconciling works from what is there now, and it does not matter what has changed, how often
 * it is called, or whether it was called before.
 */
export interface Controller {
  /** In lower case, as logs and series name it. */
  readonly name: string;
  /** What has a key reconciled when it changes. */
  readonly watches: readonly Watched[];
  /**
   * Reads what is, works out what should be, and writes the difference.
   *
   * @param key as `keyOf` makes it; the object may be gone by now
   * @param signal aborts when this process may not act any more, or the work takes too long
   * @throws what went wrong: the key comes back, later from failure to failure
   */
  reconcile(key: string, signal: AbortSignal): Promise<ReconcileResult>;
}

/** What {@link mapKeys} takes changes from, as an informer tells them. */
export interface ChangeSource<Change> {
  onChange(listener: (change: Change) => void, options: { readonly replay: true }): () => void;
  synced(signal: AbortSignal): Promise<void>;
}

/**
 * Has other keys reconciled than those of the objects that change: those of their owners, say.
 *
 * @param keysOf what is to be reconciled after a change; both what was and what is may count
 */
export function mapKeys<Change>(
  source: ChangeSource<Change>,
  keysOf: (change: Change) => Iterable<string>,
): Watched {
  return {
    onChange: (listener, options) =>
      source.onChange((change) => {
        for (const key of keysOf(change)) listener({ key });
      }, options),
    synced: (signal) => source.synced(signal),
  };
}
