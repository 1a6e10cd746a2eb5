import { mkdir } from 'node:fs/promises';
import { expect } from 'chai';
import type { ScenarioInput } from '#simulator/scenario.ts';
import { Browser, CUT_CELLS } from '#spec/support/browser.ts';
import { eventually } from '#spec/support/eventually.ts';
import { requestHttps } from '#spec/support/https-request.ts';
import { findKubectl, startKubectlProxy } from '#spec/support/kubectl.ts';
import { requireProgram } from '#spec/support/machine-programs.ts';
import { type RunningServer, runServer } from '#spec/support/running-server.ts';
import { twoCycles } from '#spec/support/two-cycles.ts';

/** Directory of screenshots, for manual inspection. */
const PHOTOGRAPHS = '.cache/photographs';

const SCRIPTS = [
  ...['page.js', 'quantities.js', 'recent-usage.js', 'sortable-table.js'],
  ...['elements.js', 'sign-in.js'],
];
/** The files of the page. */
const PAGE = ['/ui', ...['page.css', ...SCRIPTS].map((file) => `/ui/${file}`)];

describe('uiEndpoints', () => {
  let server: RunningServer;

  before(async () => {
    server = await startWatchedCluster();
  });

  after(() => server[Symbol.asyncDispose]());

  it('serves the page without authentication, with a policy that blocks foreign content', async () => {
    for (const path of PAGE) {
      const { status, headers } = await requestHttps(`${server.origin}${path}`, {
        rejectUnauthorized: false,
      });
      expect(status, path).to.equal(200);
      expect(headers['content-security-policy'], path).to.include("default-src 'none'");
      expect(headers['x-content-type-options'], path).to.equal('nosniff');
    }
  });

  it('serves nothing else without permission', async () => {
    for (const path of ['/debug/nodes', '/debug/pods', '/ui/', '/ui/other.js']) {
      const { status } = await requestHttps(`${server.origin}${path}`, { rejectUnauthorized: false });
      expect(status, path).to.equal(403);
    }
    const posted = await requestHttps(`${server.origin}/ui`, { method: 'POST', rejectUnauthorized: false });
    expect(posted.status).to.equal(403);
  });

  describe('in Chromium', () => {
    let browser: Browser | undefined;

    before(async function () {
      const chromium = await requireProgram(this, 'chromium');
      await mkdir(PHOTOGRAPHS, { recursive: true });
      browser = await Browser.start(chromium);
      await browser.open(`${server.origin}/ui`);
    });

    after(() => browser?.[Symbol.asyncDispose]());

    const page = (): Browser => {
      if (!browser) throw new Error('there is no browser');
      return browser;
    };
    const textOf = async (selector: string) =>
      String(await page().evaluate(`document.querySelector('${selector}').textContent`));
    const columnOf = async (table: string, column: number) =>
      (await page().evaluate(
        `[...document.querySelectorAll('#${table} tbody tr:not(.reason)')].map((row) => row.children[${column}].textContent)`,
      )) as readonly string[];
    const isHidden = (id: string) => page().evaluate(`document.getElementById('${id}').hidden`);

    it('shows no data without a token, and requests one', async () => {
      await eventually(async () => (await isHidden('access')) === false);
      expect(await isHidden('content')).to.equal(true);
      expect(await page().evaluate(`document.body.innerText.includes('node-1')`)).to.equal(false);
      await page().prefer('light');
      await page().photograph(`${PHOTOGRAPHS}/access-light.png`);
      await page().prefer('dark');
      await page().photograph(`${PHOTOGRAPHS}/access-dark.png`);
    });

    it('explains why a token is rejected', async () => {
      await enter('no-such-token');
      await eventually(async () => (await textOf('#refusal')).startsWith('The server rejects this token'));
      await enter('stranger-token');
      await eventually(async () =>
        (await textOf('#refusal')).includes('User "stranger" cannot get path "/debug/'),
      );
      expect(await isHidden('content')).to.equal(true);
      await enter('tök…en');
      await eventually(async () => (await textOf('#refusal')).startsWith('Invalid token: '));
    });

    it('reports that the server cannot be queried, and recovers', async () => {
      await page().evaluate(
        `window.reallyFetch = fetch; window.fetch = () => Promise.reject(new TypeError('Failed to fetch'));`,
      );
      await enter('viewer-token');
      await eventually(
        async () => (await textOf('#refusal')) === 'Cannot query the server: Failed to fetch. Retrying.',
      );
      expect(await isHidden('access')).to.equal(false);
      await page().evaluate('window.fetch = window.reallyFetch');
      await eventually(async () => (await isHidden('content')) === false);
      expect(await textOf('#refusal')).to.equal('');
      await page().click('#sign-out');
    });

    it('shows nodes and pods, failing ones first, with reasons', async () => {
      await enter('viewer-token');
      await eventually(async () => (await isHidden('content')) === false);
      expect(await textOf('#summary')).to.equal('4 of 6 nodes and 13 of 20 pods are served');
      expect((await columnOf('nodes', 1)).slice(0, 2)).to.deep.equal(['node-2', 'node-4']);
      expect((await columnOf('nodes', 0)).slice(0, 3)).to.deep.equal(['Failing', 'Failing', 'Healthy']);
      expect(await textOf('#nodes tr.reason')).to.match(
        /^NodeFailing: Cannot scrape .*connection refused \(since /,
      );
      expect(await textOf('#nodes tr.reason .remedy')).to.equal(
        'Run metrics-server doctor --node=node-2, which prints the remedy.',
      );
      expect(await textOf('#nodes tr.reason .remedy code')).to.equal('metrics-server doctor --node=node-2');
      expect(new Set(await columnOf('pods', 0)))
        .to.include('Failing')
        .and.to.include('Healthy');
      expect(
        await page().evaluate(`document.querySelectorAll('#nodes svg.trend path.line').length`),
      ).to.equal(8);
    });

    it('shows usage of nodes in percent of their allocatable resources, as kubectl top does', async () => {
      const rows = `[...document.querySelectorAll('#nodes tbody tr:not(.reason)')]`;
      const shares = `${rows}.map((row) => [...row.querySelectorAll('small')].map((one) => one.textContent))`;
      const shown = (await page().evaluate(shares)) as readonly (readonly string[])[];
      expect(shown.filter((one) => one.length > 0)).to.have.lengthOf(4);
      for (const share of shown.flat()) expect(share).to.match(/^\d{1,3}%$/);
      expect(await textOf('#nodes th:nth-child(3)')).to.equal('CPU (cores)');
    });

    it('does not store the token', async () => {
      const stored = await page().evaluate(
        `JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, document.documentElement.outerHTML, document.getElementById('token').value])`,
      );
      expect(stored).not.to.include('viewer-token');
    });

    it('refreshes automatically', async () => {
      await server.cluster.setFault('node-2');
      const before = await textOf('#freshness');
      await nextCycle(server, 4 * 16 + 5);
      await eventually(async () => (await textOf('#freshness')) !== before);
    });

    it('sorts by any column in both directions', async () => {
      await page().click('#nodes th:nth-child(3) button');
      const cpu = (await columnOf('nodes', 2)).map(coresOf).filter((cores) => !Number.isNaN(cores));
      expect(cpu).to.deep.equal(cpu.toSorted((a, b) => b - a));
      expect(await page().evaluate(`document.querySelector('#nodes th:nth-child(3)').ariaSort`)).to.equal(
        'descending',
      );
      await page().click('#nodes th:nth-child(3) button');
      const rising = (await columnOf('nodes', 2)).map(coresOf);
      expect(rising.slice(0, cpu.length)).to.deep.equal(cpu.toSorted((a, b) => a - b));
      expect(rising.slice(cpu.length).every(Number.isNaN)).to.equal(true);
      await page().click('#nodes th:nth-child(2) button');
      await page().click('#nodes th:nth-child(2) button');
      expect((await columnOf('nodes', 1)).at(0)).to.equal('node-6');
      await page().click('#nodes th:nth-child(1) button');
    });

    it('filters pods', async () => {
      await page().type('#filter', 'lacking');
      await eventually(async () => (await columnOf('pods', 2)).length === 1);
      expect(await columnOf('pods', 2)).to.deep.equal(['lacking']);
      await page().evaluate(
        `{ const filter = document.getElementById('filter'); filter.value = ''; filter.dispatchEvent(new Event('input')); }`,
      );
    });

    it('looks up a pod that no kubelet reports', async () => {
      const reason = '#pods tr.reason:has(button)';
      expect(await textOf(reason)).to.match(
        /^NotReported: none of the kubelets that responded reports this pod; .*Look upIf the node of the pod cannot be scraped,/,
      );
      await page().click(`${reason} button`);
      const isLookedUp = `[...document.querySelectorAll('#pods tr.reason')].some(({ textContent }) => textContent.startsWith('NodeFailing: Cannot scrape node "node-4"'))`;
      await eventually(async () => (await page().evaluate(isLookedUp)) === true);
    });

    it('renders in light and dark, wide and narrow (screenshots)', async () => {
      await page().prefer('light');
      await page().photograph(`${PHOTOGRAPHS}/page-light.png`);
      await page().prefer('dark');
      await page().photograph(`${PHOTOGRAPHS}/page-dark.png`);
      for (const width of [1280, 420]) {
        await page().resize({ width, height: 900 });
        expect(await page().evaluate(CUT_CELLS), `cut at ${width}`).to.deep.equal([]);
        const [content, window] = ['scrollWidth', 'clientWidth'].map(
          (size) => `document.documentElement.${size}`,
        );
        expect(await page().evaluate(`${content} <= ${window}`), `${width}`).to.equal(true);
      }
      await page().photograph(`${PHOTOGRAPHS}/page-narrow.png`);
    });

    it('shows no data after the token is forgotten', async () => {
      await page().click('#sign-out');
      expect(await isHidden('content')).to.equal(true);
      expect(await page().evaluate(`document.body.textContent.includes('node-1')`)).to.equal(false);
    });

    it('opens behind kubectl proxy as its user, without a form', async () => {
      await using proxy = await startKubectlProxy(await findKubectl(), {
        ...{ server: server.origin, token: 'viewer-token' },
      });
      await page().open(`${proxy.url}/ui`);
      await eventually(async () => (await isHidden('content')) === false);
      expect(await isHidden('access')).to.equal(true);
      expect(await isHidden('sign-out')).to.equal(true);
      expect((await columnOf('nodes', 1)).length).to.equal(6);
    });

    async function enter(token: string): Promise<void> {
      await page().type('#token', token);
      await page().click('#access button');
    }
  });
});

/** Six nodes, of which one refuses connections and one has no address, and pods with problems. */
async function startWatchedCluster(): Promise<RunningServer> {
  const containers = [{ name: 'app', unknown: ['memory' as const] }];
  await using stack = new AsyncDisposableStack();
  const scenario: ScenarioInput = {
    nodes: 6,
    podsPerNode: 3,
    nodeOverrides: { 'node-2': { faults: ['refuse'] }, 'node-4': { addresses: [] } },
    pods: [
      { name: 'lacking', node: 'node-1', containers, startedSecondsAgo: 600 },
      { name: 'searcher', node: 'node-3', startedSecondsAgo: 600 },
    ],
  };
  const server = stack.use(await runServer(scenario, ['--metric-resolution=15s']));
  const { authenticator, rbac } = server.cluster;
  authenticator.setToken('viewer-token', { username: 'viewer' });
  authenticator.setToken('stranger-token', { username: 'stranger' });
  const rules = [{ verbs: ['get'], nonResourceURLs: ['/debug/*'] }];
  rbac.grant({ name: 'debug', role: 'debug', users: ['viewer'], rules });
  await twoCycles(server, 4);
  for (let cycle = 0; cycle < 14; cycle++) {
    varyLoads(server, cycle);
    await nextCycle(server, 4 * (cycle + 3));
  }
  stack.move();
  return server;
}

/** Advances past the next cycle, until `scraped` scrapes have succeeded in total. */
async function nextCycle(server: RunningServer, scraped: number): Promise<void> {
  await server.clock.advance(15_000 - 1_400);
  await server.clock.advance(400);
  await server.scraped(scraped);
  await server.clock.advance(1_000);
}

/** Runs several cycles for the trends. */
function varyLoads({ cluster }: RunningServer, cycle: number): void {
  for (const { metadata, spec } of cluster.store.list('pods').items) {
    if (metadata.name === 'lacking') continue;
    const path = { namespace: metadata.namespace ?? '', pod: metadata.name, container: 'main' };
    const phase = metadata.name.charCodeAt(metadata.name.length - 1) + String(spec).length;
    const wave = 1 + Math.sin((cycle + phase) / 2);
    cluster.setLoad(path, {
      cpuMillicores: Math.round(20 + 120 * wave),
      memoryBytes: 4096 * Math.round(8_000 + 6_000 * wave + 900 * cycle),
    });
  }
}

/** Parses `63m` and `1.27`, without the share of the node behind it; NaN for other texts. */
function coresOf(cell: string): number {
  const [text = ''] = cell.split(' ');
  return text.endsWith('m') ? Number(text.slice(0, -1)) / 1000 : Number(text);
}
