/** Whether a text can be one segment of a URL's path: clients and servers resolve `.` and `..`, and drop empty segments. */
export function isPathSegment(text: string): boolean {
  return text !== '' && text !== '.' && text !== '..';
}

/**
 * Escapes a text as one segment of a URL's path. `encodeURIComponent` alone leaves dots as they are, so that a text could
 * lead to another path of the same server, with the same credentials.
 *
 * @throws an Error for a text that is no segment
 */
export function pathSegment(text: string): string {
  if (!isPathSegment(text))
    throw new Error(`Cannot build path: ${JSON.stringify(text)} is not a path segment`);
  return encodeURIComponent(text.toWellFormed());
}
