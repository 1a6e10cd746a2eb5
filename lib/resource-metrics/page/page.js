import { element, sparkline } from './elements.js';
import { formatAge, formatBytes, formatCores, formatShare, parseQuantity } from './quantities.js';
import { RecentUsage } from './recent-usage.js';
import { fillSignIn, Refusal, request } from './sign-in.js';
import { SortableTable } from './sortable-table.js';

const REFRESH_MS = 5_000;
const MAX_PODS = 1_000;
const COMMANDS = `kubectl create clusterrole metrics-server-debug --verb=get --non-resource-url='/debug/*'
kubectl create clusterrolebinding metrics-server-debug --clusterrole=metrics-server-debug \\
    --serviceaccount=kube-system:default
kubectl -n kube-system create token default`;

/** Never stored outside this variable; undefined where a proxy adds credentials. */
let token;
/** Whether to query the server: with a token, or with the credentials of a proxy. */
let isSignedIn = false;
let refreshing;
/** The last responses of the server. */
let latest;
const recent = new RecentUsage();
/** Reasons that the user looked up, by pod. */
let lookedUp = new Map();
const $ = (id) => document.getElementById(id);

const nodes = new SortableTable($('nodes'), [
  { title: 'State', value: ({ rank, name }) => `${rank} ${name}`, cell: stateCell },
  { title: 'Node', className: 'name', value: ({ name }) => name, cell: ({ name }) => text(name) },
  ...usageColumns(),
  { title: 'Scraped', className: 'number', value: ({ scrapedMs }) => scrapedMs, cell: scrapedCell },
  { title: 'Duration', className: 'number', value: ({ tookMs }) => tookMs, cell: tookCell },
  { title: 'Pods', className: 'number', value: ({ pods }) => pods, cell: ({ pods }) => text(pods ?? '–') },
  { title: 'Address', className: 'mono faint', value: ({ address }) => address, cell: addressCell },
]);

const pods = new SortableTable($('pods'), [
  { title: 'State', value: ({ rank, key }) => `${rank} ${key}`, cell: stateCell },
  {
    title: 'Namespace',
    className: 'faint',
    value: ({ namespace }) => namespace,
    cell: ({ namespace }) => text(namespace),
  },
  { title: 'Pod', className: 'name', value: ({ name }) => name, cell: ({ name }) => text(name) },
  { title: 'Node', value: ({ node }) => node, cell: ({ node }) => text(node ?? '–') },
  ...usageColumns(),
]);

fillSignIn($('access'), {
  ...{ permission: '/debug/*', commands: COMMANDS },
  onToken(pasted) {
    token = pasted;
    isSignedIn = true;
    return refresh();
  },
});
$('sign-out').addEventListener('click', () => signOut(''));
$('filter').addEventListener('input', showPods);
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && isSignedIn) void refresh();
});

/** Queries the server, and schedules the next refresh while the page is visible. */
async function refresh() {
  clearTimeout(refreshing);
  try {
    const [ofNodes, ofPods] = await Promise.all([
      query('/debug/nodes'),
      query(`/debug/pods?limit=${MAX_PODS}`),
    ]);
    if (!isSignedIn) return;
    latest = { ofNodes, ofPods, atMs: Date.now() };
    $('problem').textContent = '';
    show();
  } catch (error) {
    if (error instanceof Refusal) return signOut(token ? error.message : '');
    const message = `Cannot query the server: ${error.message}. Retrying.`;
    if (!latest) setSession(false);
    $(latest ? 'problem' : 'refusal').textContent = message; // whichever is visible
  }
  if (isSignedIn && !document.hidden) refreshing = setTimeout(refresh, REFRESH_MS);
}

async function query(path) {
  const response = await request(path, { token, accept: 'application/json' });
  return await response.json();
}

function signOut(because) {
  token = undefined;
  isSignedIn = false;
  latest = undefined;
  lookedUp = new Map();
  clearTimeout(refreshing);
  recent.record([]);
  nodes.show([]);
  pods.show([]);
  for (const id of ['summary', 'freshness', 'nodes-count', 'pods-count']) $(id).textContent = '';
  $('refusal').textContent = because;
  setSession(false);
  $('token').focus();
}

function setSession(isOpen) {
  $('access').hidden = isOpen;
  $('content').hidden = !isOpen;
  $('session').hidden = !isOpen;
  $('sign-out').hidden = !token;
}

function show() {
  const { ofNodes, ofPods, atMs } = latest;
  setSession(true);
  $('refusal').textContent = '';
  $('summary').textContent =
    `${ofNodes.served} of ${ofNodes.total} nodes and ${ofPods.served} of ${ofPods.total} pods are served`;
  $('freshness').textContent = `as of ${new Date(atMs).toLocaleTimeString()}`;
  $('nodes-count').textContent = formatCount(ofNodes);
  nodes.show(ofNodes.items.map((node) => nodeRow(node, atMs)));
  const rows = ofPods.items.map(podRow);
  recent.record(rows);
  showPods();
}

function showPods() {
  if (!latest) return;
  const { ofPods } = latest;
  const filter = $('filter').value.trim().toLowerCase();
  const rows = ofPods.items
    .map(podRow)
    .filter(({ key, node = '' }) => `${key} ${node}`.toLowerCase().includes(filter));
  const limited =
    ofPods.total > ofPods.items.length
      ? `; only the first ${ofPods.items.length} of ${ofPods.total} are shown`
      : '';
  $('pods-count').textContent =
    filter === '' ? formatCount(ofPods) + limited : `${rows.length} match${limited}`;
  pods.show(rows.map((row) => ({ ...row, trend: recent.of(row.key) })));
}

function formatCount({ total, served }) {
  return served === total ? `${total}, all served` : `${total}, ${total - served} not served`;
}

function nodeRow({ name, served, usage, allocatable, reason, scrape, cached, trend }, atMs) {
  const failure = scrape?.failure;
  return {
    ...rankState({ served, isFailing: failure !== undefined, code: reason?.code }),
    name,
    ...amounts(usage),
    capacity: amounts(allocatable),
    trend: trend.map(({ cpuNanocores, memoryBytes }) => ({ cores: cpuNanocores / 1e9, bytes: memoryBytes })),
    scrapedMs: scrape && atMs - Date.parse(scrape.startedAt),
    tookMs: scrape && scrape.durationSeconds * 1000,
    pods: cached?.pods,
    address: scrape?.address,
    reason:
      reason?.message ??
      (failure &&
        `${failure.message} (since ${failure.since}; the last response of the node is still served)`),
    remedy: reason?.remedy,
  };
}

function podRow({ namespace, name, served, node, usage, reason: reported }) {
  const key = `${namespace}/${name}`;
  const reason = reported?.code === 'NotReported' ? (lookedUp.get(key) ?? reported) : reported;
  return {
    ...rankState({ served, code: reason?.code }),
    ...(reason === reported && reported?.code === 'NotReported' && { more: lookUpButton(namespace, name) }),
    ...{ key, namespace, name, node },
    ...amounts(usage),
    timestamp: usage?.timestamp,
    reason: reason?.message,
    remedy: reason?.remedy,
  };
}

/** Looks up the node of an unreported pod at the API server, only on request. */
function lookUpButton(namespace, name) {
  const button = element('button', { type: 'button', className: 'link', text: 'Look up' });
  button.addEventListener('click', async () => {
    const parameters = new URLSearchParams({ namespace, name });
    const { items } = await query(`/debug/pods?${parameters}`).catch((error) => ({
      items: [{ reason: { code: 'LookupFailed', message: error.message } }],
    }));
    const [{ reason }] = items;
    if (reason) lookedUp.set(`${namespace}/${name}`, reason);
    showPods();
  });
  return button;
}

const WAITING = [
  'WaitingForSecondReading',
  'NotScrapedYet',
  'NotReportedYet',
  'NodesNotListed',
  'PodsNotListed',
  'NotPublishedYet',
];

/** Ranks failing items first, then those that are served although their node fails, then waiting ones. */
function rankState({ served, isFailing = false, code }) {
  if (served) {
    return isFailing
      ? { state: 'waiting', rank: 1, word: 'Degraded', code: 'NodeFailing' }
      : { state: 'served', rank: 3, word: 'Healthy' };
  }
  return WAITING.includes(code)
    ? { state: 'waiting', rank: 2, word: 'Pending', code }
    : { state: 'failing', rank: 0, word: 'Failing', code };
}

function amounts(usage) {
  return { cores: parseQuantity(usage?.cpu), bytes: parseQuantity(usage?.memory) };
}

function usageColumns() {
  return [
    usageColumn('CPU', { title: 'CPU (cores)', of: ({ cores }) => cores, format: formatCores }),
    usageColumn('Memory', { title: 'Memory', of: ({ bytes }) => bytes, format: formatBytes }),
  ];
}

/** @param of selects the amount of a row, of a point of its trend, or of its capacity */
function usageColumn(resource, { title, of, format }) {
  return {
    title,
    className: 'number',
    value: of,
    cell: (row) => {
      const share = row.capacity && formatShare(of(row), of(row.capacity));
      const of100 =
        share && element('small', { text: share, title: `of the node's allocatable ${resource}` });
      return element('div', { className: 'usage' }, [
        sparkline(row.trend.map(of), `${resource} over the last minutes`),
        element('span', { text: format(of(row)) }),
        ...(of100 ? [' ', of100] : []),
      ]);
    },
  };
}

function stateCell({ state, word }) {
  return element('span', { className: `state ${state}`, text: word });
}

function scrapedCell({ scrapedMs }) {
  return text(scrapedMs === undefined ? '–' : `${formatAge(scrapedMs)} ago`);
}

function tookCell({ tookMs, address }) {
  return text(tookMs === undefined || address === undefined ? '–' : `${Math.round(tookMs)} ms`);
}

function addressCell({ address }) {
  return text(address ?? '–');
}

function text(value) {
  return document.createTextNode(String(value));
}

// Behind a proxy that adds credentials, there is no form.
isSignedIn = true;
void refresh();
