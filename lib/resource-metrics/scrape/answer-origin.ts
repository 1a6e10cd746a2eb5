/** Where an answer comes from, when it was asked for and when it had come, on our monotonic clock. */
export interface AnswerOrigin {
  readonly nodeName: string;
  readonly askedAtMs: number;
  readonly receivedAtMs: number;
}
