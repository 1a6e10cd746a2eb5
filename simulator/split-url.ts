/** A request's URL in its two parts. Whatever a client sends has them, so nothing here throws. */
export function splitUrl(url: string): { readonly path: string; readonly query: URLSearchParams } {
  const [path = '', ...rest] = url.split('?');
  return { path: path === '' ? '/' : path, query: new URLSearchParams(rest.join('?')) };
}
