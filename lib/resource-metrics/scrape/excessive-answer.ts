/** The bounds of what a kubelet may say: its length, what parsing it would cost, and what all may hold together. */
export type AnswerBound = 'bytes' | 'depth' | 'parts' | 'memory';

/** A kubelet's answer that goes past a bound. */
export class ExcessiveAnswer extends Error {
  readonly bound: AnswerBound;

  constructor(bound: AnswerBound, message: string) {
    super(message);
    this.bound = bound;
  }
}
