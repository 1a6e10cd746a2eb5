import { element } from './elements.js';

/** The server rejects the credentials; the message says why. */
export class Refusal extends Error {}

/**
 * Fills a form that requests a bearer token.
 *
 * @param options.permission the paths that the token must permit to get, as code
 * @param options.commands print a token with that permission
 * @param options.onToken called with each token that may be one
 */
export function fillSignIn(form, { permission, commands, onToken }) {
  const attributes = { type: 'password', autocomplete: 'off', spellcheck: 'false', required: '' };
  const token = element('input', { id: 'token', ...attributes });
  const refusal = element('p', { id: 'refusal', className: 'refusal', role: 'alert' });
  form.className = 'access';
  form.replaceChildren(
    element('h2', { text: 'Sign in' }),
    element('p', {}, [
      'Paste the bearer token of an account that may get ',
      element('code', { text: permission }),
      '. To create one:',
    ]),
    element('pre', {}, [element('code', { text: commands })]),
    element('div', { className: 'field' }, [
      element('label', { for: 'token', text: 'Token' }),
      token,
      element('button', { type: 'submit', className: 'primary', text: 'Sign in' }),
    ]),
    refusal,
    element('p', {
      className: 'hint',
      text: 'The token is stored only in the memory of this page, until you close or reload it. Behind kubectl proxy, you are signed in as the user of kubectl.',
    }),
  );
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    const pasted = token.value.trim();
    token.value = '';
    if (/^[!-~]+$/.test(pasted)) void onToken(pasted);
    else refusal.textContent = 'Invalid token: a token is one word of ASCII characters.';
  });
}

/** A forwarded port may accept a request and never respond. */
const TIMEOUT_MS = 10_000;

/**
 * Requests a path, with a token if there is one.
 *
 * @throws {Refusal} where the credentials are rejected or do not suffice
 */
export async function request(path, { token, accept }) {
  const response = await fetch(path, {
    headers: { Accept: accept, ...(token && { Authorization: `Bearer ${token}` }) },
    cache: 'no-store',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (response.ok) return response;
  const { message = response.statusText } = await response.json().catch(() => ({}));
  if (response.status === 401) throw new Refusal('The server rejects this token; it may have expired.');
  if (response.status === 403) throw new Refusal(`The account of this token has no permission: ${message}`);
  throw new Error(message || `status ${response.status}`);
}
