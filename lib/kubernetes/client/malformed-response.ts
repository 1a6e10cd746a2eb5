/** A response of the API server that would be no better at a second try: too long, or not what it should be. */
export class MalformedResponse extends Error {
  override readonly name = 'MalformedResponse';
}
