/** A kubelet's handshake had no permit before its cycle was over: that is our own load, of which the kubelet knows nothing. */
export class NeverAsked extends Error {
  constructor(cause: unknown) {
    super('it was never asked: this process had too many handshakes to do', { cause });
  }
}
