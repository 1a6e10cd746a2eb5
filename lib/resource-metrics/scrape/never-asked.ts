/** A kubelet was not asked in more than a whole cycle: that is our own load, of which the kubelet knows nothing. */
export class NeverAsked extends Error {
  constructor() {
    super('it was not asked for more than a cycle: this process has too many handshakes to do');
  }
}
