/** An answer of the API server that it would give again if it were asked again: too long, or not what it should be. */
export class MalformedAnswer extends Error {
  override readonly name = 'MalformedAnswer';
}
