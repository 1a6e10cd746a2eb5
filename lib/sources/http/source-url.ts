import { type CredentialSource, fixedCredentials } from './http-credentials.ts';

/** The URL of a source without credentials, and its credentials. */
export interface SourceUrl {
  /** Without credentials and fragment. */
  readonly url: URL;
  readonly credentials: CredentialSource | undefined;
}

const MAX_LENGTH = 2048;

/**
 * Parses the URL of a source, and moves its user and password into credentials.
 *
 * @returns the violated rule, such as `must be a URL that begins with http:// or https://`, without the URL
 */
export function parseSourceUrl(text: string): SourceUrl | string {
  if (text.length > MAX_LENGTH) return `must be no longer than ${MAX_LENGTH} characters`;
  if (!URL.canParse(text)) return RULE;
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return RULE;
  const { username, password } = url;
  url.username = '';
  url.password = '';
  url.hash = '';
  if (username === '' && password === '') return { url, credentials: undefined };
  try {
    const userPass = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    const authorization = `Basic ${Buffer.from(userPass).toString('base64')}`;
    return { url, credentials: fixedCredentials({ authorization }) };
  } catch {
    return 'must have its user and password percent-encoded';
  }
}

const RULE = 'must be a URL that begins with http:// or https://';

/** Appends a path to that of a URL, and removes its query. */
export function pathBelow(url: URL, path: string): URL {
  const below = new URL(url);
  below.pathname = `${url.pathname.endsWith('/') ? url.pathname.slice(0, -1) : url.pathname}${path}`;
  below.search = '';
  return below;
}
