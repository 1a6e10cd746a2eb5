/** When something is due. Times are milliseconds since the Unix epoch; activations are whole seconds. */
export interface Schedule {
  /** The first activation after a moment, or `undefined` where there is none within the next five years. */
  next(afterMs: number): number | undefined;

  /** The last activation before a moment, or `undefined` where there is none within the last five years. */
  previous(beforeMs: number): number | undefined;

  /** By how much later than it names an activation is: where the clock skipped the time that it names. */
  delayMs(atMs: number): number;
}
