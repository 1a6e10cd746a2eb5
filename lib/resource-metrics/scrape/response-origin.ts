/** Which node a response comes from, when it was requested and when it had come in, on our monotonic clock. */
export interface ResponseOrigin {
  readonly nodeName: string;
  readonly requestedAtMs: number;
  readonly receivedAtMs: number;
}

/** The same with the time by our wall clock: of that time are samples on which a kubelet puts none. */
export interface TimedResponseOrigin extends ResponseOrigin {
  readonly receivedAtWallMs: number;
}
