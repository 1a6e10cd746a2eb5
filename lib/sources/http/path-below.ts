/** A path below that of a URL, without its query. */
export function pathBelow(url: URL, path: string): URL {
  const below = new URL(url);
  below.pathname = `${url.pathname.endsWith('/') ? url.pathname.slice(0, -1) : url.pathname}${path}`;
  below.search = '';
  return below;
}
