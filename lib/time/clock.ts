/**
 * Where a component gets its time from: the wall clock, which may be stepped, for stamps that others
 * read; the monotonic one for ages, deadlines and intervals.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  nowMs(): number;

  /** Milliseconds since an arbitrary moment; never falls, whatever happens to the wall clock. */
  monotonicMs(): number;

  /**
   * Waits.
   *
   * @throws the signal's reason, at once, when it is or becomes aborted.
   */
  sleep(durationMs: number, options?: { readonly signal?: AbortSignal }): Promise<void>;

  /** Calls back after a while, unless disposed of before. */
  startTimer(durationMs: number, callback: () => void): Disposable;
}
