/** Where an answer comes from, when it was asked for and when it had come, on our monotonic clock. */
export interface AnswerOrigin {
  readonly nodeName: string;
  readonly askedAtMs: number;
  readonly receivedAtMs: number;
}

/** The same with the time by our wall clock: of that time are samples on which a kubelet puts none. */
export interface TimedAnswerOrigin extends AnswerOrigin {
  readonly receivedAtWallMs: number;
}
