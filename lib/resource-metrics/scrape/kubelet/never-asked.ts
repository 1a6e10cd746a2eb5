/** It was not a kubelet's turn before its time was over: our own load, of which it knows nothing. */
export class NeverAsked extends Error {
  constructor(cause: unknown) {
    super('it was never asked: this process had too many handshakes to do', { cause });
  }
}
