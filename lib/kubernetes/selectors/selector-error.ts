/** A selector that Kubernetes would refuse; the message is the one that its API server gives. */
export class SelectorError extends Error {
  override readonly name = 'SelectorError';
}
