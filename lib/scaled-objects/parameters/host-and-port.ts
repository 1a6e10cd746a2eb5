/**
 * Takes `host:port` apart, with the brackets of an address.
 *
 * @param name of the parameter that it is
 * @throws an Error that says which parameter is none
 */
export function hostAndPort(name: string, text: string): { readonly host: string; readonly port: number } {
  const trimmed = text.trim();
  const colon = trimmed.lastIndexOf(':');
  const digits = trimmed.slice(colon + 1);
  const port = /^\d{1,5}$/.test(digits) ? Number(digits) : 0;
  const host = trimmed.slice(0, Math.max(0, colon));
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host;
  if (bare === '' || port < 1 || port > 65_535 || /[\s/@,]/.test(bare))
    throw new Error(`parameter "${name}" value "${text.slice(0, 100)}" must be host:port`);
  return { host: bare, port };
}
