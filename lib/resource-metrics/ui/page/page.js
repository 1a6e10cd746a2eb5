import { element, sparkline } from './elements.js';
import { formatAge, formatBytes, formatCores, parseQuantity } from './quantities.js';
import { RecentUsage } from './recent-usage.js';
import { SortableTable } from './sortable-table.js';

const REFRESH_MS = 5_000;
const MOST_PODS = 1_000;
/** A forwarded port may take a request and never respond. */
const TIMEOUT_MS = 10_000;

/** The token lives here and nowhere else. */
let token;
let refreshing;
/** What the server responded with last. */
let latest;
const recent = new RecentUsage();
/** Reasons of pods that the reader had looked up, by pod. */
let lookedUp = new Map();
const $ = (id) => document.getElementById(id);

const nodes = new SortableTable($('nodes'), [
  { title: 'State', value: ({ rank, name }) => `${rank} ${name}`, cell: stateCell },
  { title: 'Node', className: 'name', value: ({ name }) => name, cell: ({ name }) => text(name) },
  ...usageColumns(),
  { title: 'Scraped', className: 'number', value: ({ scrapedMs }) => scrapedMs, cell: scrapedCell },
  { title: 'Took', className: 'number', value: ({ tookMs }) => tookMs, cell: tookCell },
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

$('access').addEventListener('submit', (event) => {
  event.preventDefault();
  const pasted = $('token').value.trim();
  $('token').value = '';
  if (!/^[!-~]+$/.test(pasted)) return forget('This is no token: a token is one word of ASCII characters.');
  token = pasted;
  void refresh();
});
$('forget').addEventListener('click', () => forget(''));
$('filter').addEventListener('input', showPods);
document.addEventListener('visibilitychange', () => {
  if (!document.hidden && token) void refresh();
});

/** Asks for everything again, and again after a while for as long as somebody looks. */
async function refresh() {
  clearTimeout(refreshing);
  try {
    const [ofNodes, ofPods] = await Promise.all([ask('/debug/nodes'), ask(`/debug/pods?limit=${MOST_PODS}`)]);
    if (!token) return;
    latest = { ofNodes, ofPods, atMs: Date.now() };
    $('trouble').textContent = '';
    show();
  } catch (error) {
    if (error instanceof Refusal) return forget(error.message);
    const message = `The server cannot be asked: ${error.message}. Trying again.`;
    $(latest ? 'trouble' : 'refusal').textContent = message; // where the reader looks now
  }
  if (token && !document.hidden) refreshing = setTimeout(refresh, REFRESH_MS);
}

class Refusal extends Error {}

async function ask(path) {
  const response = await fetch(path, {
    headers: { Authorization: `Bearer ${token}` },
    cache: 'no-store',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (response.ok) return await response.json();
  const { message = response.statusText } = await response.json().catch(() => ({}));
  if (response.status === 401) throw new Refusal('The server does not know this token; it may have expired.');
  if (response.status === 403) throw new Refusal(`The account of this token may not: ${message}`);
  throw new Error(message);
}

function forget(because) {
  token = undefined;
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
}

function show() {
  const { ofNodes, ofPods, atMs } = latest;
  setSession(true);
  $('refusal').textContent = '';
  $('summary').textContent =
    `${ofNodes.served} of ${ofNodes.total} nodes and ${ofPods.served} of ${ofPods.total} pods are served`;
  $('freshness').textContent = `as of ${new Date(atMs).toLocaleTimeString()}`;
  $('nodes-count').textContent = countOf(ofNodes);
  nodes.show(ofNodes.items.map((node) => nodeRow(node, atMs)));
  const rows = ofPods.items.map(podRow);
  recent.record(rows);
  showPods();
}

function showPods() {
  if (!latest) return;
  const { ofPods } = latest;
  const wanted = $('filter').value.trim().toLowerCase();
  const rows = ofPods.items
    .map(podRow)
    .filter(({ key, node = '' }) => `${key} ${node}`.toLowerCase().includes(wanted));
  const cut =
    ofPods.total > ofPods.items.length
      ? `; of ${ofPods.total} the first ${ofPods.items.length} are looked at`
      : '';
  $('pods-count').textContent = wanted === '' ? countOf(ofPods) + cut : `${rows.length} match${cut}`;
  pods.show(rows.map((row) => ({ ...row, trend: recent.of(row.key) })));
}

function countOf({ total, served }) {
  return served === total ? `${total}, all served` : `${total}, ${total - served} not served`;
}

function nodeRow({ name, served, usage, reason, scrape, held, trend }, atMs) {
  const failure = scrape?.failure;
  return {
    ...stateOf(served && !failure, reason?.code ?? (failure && 'NodeFailing')),
    name,
    ...amounts(usage),
    trend: trend.map(({ cpuNanocores, memoryBytes }) => ({ cores: cpuNanocores / 1e9, bytes: memoryBytes })),
    scrapedMs: scrape && atMs - Date.parse(scrape.startedAt),
    tookMs: scrape && scrape.durationSeconds * 1000,
    pods: held?.pods,
    address: scrape?.address,
    reason:
      reason?.message ??
      (failure && `${failure.message} (since ${failure.since}; its last response is still served)`),
    remedy: reason?.remedy,
  };
}

function podRow({ namespace, name, served, node, usage, reason: known }) {
  const key = `${namespace}/${name}`;
  const reason = known?.code === 'NotReported' ? (lookedUp.get(key) ?? known) : known;
  return {
    ...stateOf(served, reason?.code),
    ...(reason === known && known?.code === 'NotReported' && { more: lookUpButton(namespace, name) }),
    ...{ key, namespace, name, node },
    ...amounts(usage),
    timestamp: usage?.timestamp,
    reason: reason?.message,
    remedy: reason?.remedy,
  };
}

/** Which node a pod is on that no kubelet reports, only the API server knows: it is asked when the reader wants that. */
function lookUpButton(namespace, name) {
  const button = element('button', { type: 'button', className: 'link', text: 'Find out' });
  button.addEventListener('click', async () => {
    const query = new URLSearchParams({ namespace, name });
    const { items } = await ask(`/debug/pods?${query}`).catch((error) => ({
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

/** What fails ranks before what waits, and that before what is served. */
function stateOf(isWell, code) {
  if (isWell) return { state: 'served', rank: 2, word: 'served' };
  return WAITING.includes(code)
    ? { state: 'waiting', rank: 1, word: code }
    : { state: 'failing', rank: 0, word: code ?? 'not served' };
}

function amounts(usage) {
  return { cores: parseQuantity(usage?.cpu), bytes: parseQuantity(usage?.memory) };
}

function usageColumns() {
  return [
    {
      title: 'CPU',
      className: 'number',
      value: ({ cores }) => cores,
      cell: ({ cores, trend }) =>
        usageCell(
          formatCores(cores),
          trend.map((point) => point.cores),
          'CPU',
        ),
    },
    {
      title: 'Memory',
      className: 'number',
      value: ({ bytes }) => bytes,
      cell: ({ bytes, trend }) =>
        usageCell(
          formatBytes(bytes),
          trend.map((point) => point.bytes),
          'Memory',
        ),
    },
  ];
}

function usageCell(amount, values, what) {
  const label = `${what} over the last minutes`;
  return element('div', { className: 'usage' }, [
    sparkline(values, label),
    element('span', { text: amount }),
  ]);
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
