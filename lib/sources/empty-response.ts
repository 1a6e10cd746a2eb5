/** A source that responded, but has nothing to tell. */
export class EmptyResponse extends Error {
  override readonly name = 'EmptyResponse';
}
