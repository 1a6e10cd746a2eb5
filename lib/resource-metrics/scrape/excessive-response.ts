/** The bounds of what a kubelet may say: its length, what parsing it would cost, and what all may hold together. */
export type ResponseBound = 'bytes' | 'depth' | 'parts' | 'memory';

/** A kubelet's response that goes past a bound. */
export class ExcessiveResponse extends Error {
  readonly bound: ResponseBound;

  constructor(bound: ResponseBound, message: string) {
    super(message);
    this.bound = bound;
  }
}
