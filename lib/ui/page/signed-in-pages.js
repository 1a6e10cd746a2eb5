import './copy.js';
import { element } from './elements.js';
import { fillSignIn, Refusal, request } from './sign-in.js';

const RETRY_MS = 5_000;
const COMMANDS = `kubectl create clusterrole autoscaler-viewer --verb=get --non-resource-url='/ui' --non-resource-url='/ui/*'
kubectl create clusterrolebinding autoscaler-viewer --clusterrole=autoscaler-viewer \\
    --serviceaccount=kube-system:default
kubectl -n kube-system create token default`;

/** Never stored outside this variable. */
let token;
let refreshing;
/** Increases with each page that is requested: a late response must not replace a newer page. */
let requested = 0;

const signInBody = document.body;
fillSignIn(document.getElementById('access'), {
  ...{ permission: '/ui', commands: COMMANDS },
  onToken(pasted) {
    token = pasted;
    return load(location.href);
  },
});
document.getElementById('token').focus();

/** Shows a page of this server; pages are rendered by the server, which escapes all text. */
async function load(address, { isNew = false } = {}) {
  clearTimeout(refreshing);
  const number = ++requested;
  try {
    const response = await request(address, { token, accept: 'text/html' });
    const page = new DOMParser().parseFromString(await response.text(), 'text/html'); // runs no script
    if (!token || number !== requested) return;
    if (isNew) history.pushState(undefined, '', address);
    show(page, { isNew });
  } catch (error) {
    if (number !== requested) return;
    if (error instanceof Refusal) return signOut(error.message);
    report(`Cannot load the page: ${error.message}. Retrying.`);
    refreshing = setTimeout(() => load(address, { isNew }), RETRY_MS);
  }
}

function show(page, { isNew }) {
  const scrolled = isNew ? 0 : window.scrollY;
  const seconds = Number(page.querySelector('meta[http-equiv="refresh"]')?.content);
  document.title = page.title;
  document.body = page.body;
  const button = element('button', { id: 'sign-out', type: 'button', text: 'Sign out' });
  button.addEventListener('click', () => signOut(''));
  document.querySelector('.freshness')?.append(' ', button);
  window.scrollTo(0, scrolled);
  if (seconds > 0) refreshing = setTimeout(() => load(location.href), seconds * 1000);
}

function signOut(because) {
  token = undefined;
  requested++;
  clearTimeout(refreshing);
  document.title = 'Sign in';
  document.body = signInBody;
  document.getElementById('refusal').textContent = because;
  document.getElementById('token').focus();
}

/** Shows a failure above the page, or in the form before the first page. */
function report(message) {
  const refusal = document.getElementById('refusal') ?? element('p', { id: 'refusal', role: 'alert' });
  refusal.className = 'refusal';
  refusal.textContent = message;
  if (!refusal.isConnected) document.querySelector('main')?.prepend(refusal);
}

/** Whether an address is a page of this server: only these get the token. */
function isOwn({ origin, pathname }) {
  return origin === location.origin && /\/ui(\/new)?$/.test(pathname);
}

document.addEventListener('click', (event) => {
  const link = event.target.closest?.('a[href]');
  if (!token || !link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const address = new URL(link.href);
  if (!isOwn(address)) return;
  event.preventDefault();
  void load(address.href, { isNew: true });
});

document.addEventListener('submit', (event) => {
  const form = event.target;
  if (!token || form.id === 'access' || form.method !== 'get') return;
  const address = new URL(form.action);
  if (!isOwn(address)) return;
  event.preventDefault();
  const { name, value } = event.submitter ?? {};
  const fields = new URLSearchParams(new FormData(form));
  if (name) fields.append(name, value);
  address.search = `?${fields}`;
  void load(address.href, { isNew: true });
});

window.addEventListener('popstate', () => {
  if (token) void load(location.href);
});
