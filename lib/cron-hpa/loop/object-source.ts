/** Objects that somebody follows, as an informer does, by the keys `NAMESPACE/NAME`. */
export interface ObjectSource<T> {
  find(key: string): T | undefined;
  onChange(listener: (change: ObjectSourceChange<T>) => void, options: { readonly replay: true }): () => void;
  synced(signal: AbortSignal): Promise<void>;
}

/** A change of one of them; `previous` is `undefined` once it is added, `current` once it is gone. */
export interface ObjectSourceChange<T> {
  readonly key: string;
  readonly previous: T | undefined;
  readonly current: T | undefined;
}
