/** One object's change; before it was added, and after it was deleted, it is `undefined`. */
export interface ObjectChange<T> {
  readonly key: string;
  readonly previous: T | undefined;
  readonly current: T | undefined;
}
