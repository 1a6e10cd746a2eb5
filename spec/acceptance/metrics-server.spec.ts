import { once } from 'node:events';
import { Agent } from 'node:https';
import { performance } from 'node:perf_hooks';
import { connect } from 'node:tls';
import { expect } from 'chai';
import type { TrueUsage, TruthWindow } from '#simulator/nodes/actual-usage.ts';
import type { ScenarioInput } from '#simulator/scenario.ts';
import { type SimulatedCluster, startCluster } from '#simulator/simulated-cluster.ts';
import { BACKGROUND_LOADS } from '#spec/benchmarks/background/measure-background-loads.ts';
import { runScenario, type ScenarioResult } from '#spec/benchmarks/run-scenario.ts';
import { REQUEST_KINDS } from '#spec/benchmarks/scenarios.ts';
import { freePort } from '#spec/support/free-port.ts';
import { requestHttps } from '#spec/support/https-request.ts';
import { findKubectl, findKubectlWithSwap, Kubectl } from '#spec/support/kubectl.ts';
import { SpawnedProgram } from '#spec/support/spawned-program.ts';
import { SERVER_SOURCE, spawnServer } from '#spec/support/spawned-server.ts';
import { untilServed } from '#spec/support/until-served.ts';

/** A simulated cluster in this process, and a real server in a process of its own. */
interface Installation {
  readonly cluster: SimulatedCluster;
  readonly server: SpawnedProgram;
  readonly port: number;
  readonly kubectl: Kubectl;
}

const TINY = {
  ...{ name: 'tiny', nodes: 1, podsPerNode: 2, containersPerPod: 1 },
  ...{ namespaces: 1, appsPerNamespace: 1 },
};
const HEALTHY: ScenarioInput = { nodes: 3, podsPerNode: 5, containersPerPod: 2, nodeSwapGibibytes: 1 };
const FAULTY: ScenarioInput = {
  nodes: 50,
  podsPerNode: 2,
  nodeOverrides: {
    'node-7': { faults: ['refuse'] },
    'node-8': { faults: ['hang'] },
    'node-9': { faults: ['garbage'] },
    'node-10': { faults: ['stall'] },
  },
};
const HEALTHY_AMONG_FAULTY = { nodes: 46, pods: 92 };
// Four times as long as the first cycle: a server that waits for its kubelets would serve nothing by then.
const KUBELET_REQUEST_TIMEOUT_MS = 50_000;

// The server needs two readings 12 s apart, so everything that uses them starts here at once.
describe('the metrics server as a process', () => {
  const stack = new AsyncDisposableStack();
  let healthy: Installation;
  let faulty: Installation;
  let demo: SpawnedProgram;
  let benchmark: Promise<ScenarioResult>;

  before(async () => {
    demo = stack.use(
      new SpawnedProgram(process.execPath, ['scripts/demo.ts', '--once'], { name: 'the demo' }),
    );
    benchmark = runScenario(TINY, {
      ...{ program: SERVER_SOURCE, kubeletPsi: false, settleMs: 0, scrapeMs: 100 },
      ...{ kinds: REQUEST_KINDS.slice(0, 1), formats: ['protobuf'], roundMs: 10, rounds: 1 },
      ...{ baseline: true, firsts: 1, loads: BACKGROUND_LOADS, loadMs: 500 },
      onProgress: () => {},
    });
    benchmark.catch(() => {}); // awaited below
    const timeout = `--kubelet-request-timeout=${KUBELET_REQUEST_TIMEOUT_MS}ms`;
    [healthy, faulty] = await Promise.all([
      install(HEALTHY, ['--extra-resources=swap']),
      install(FAULTY, [timeout]),
    ]);
    // On a slow machine the second scrape follows the first too closely; metrics then require the third scrape, a
    // minute later.
    const slow = { timeoutMs: 100_000 };
    await Promise.all([
      untilServed(healthy, { nodes: 3, pods: 15 }, slow),
      untilServed(faulty, HEALTHY_AMONG_FAULTY, slow),
    ]);
  });

  after(() => stack.disposeAsync());

  async function install(scenario: ScenarioInput, flags: readonly string[] = []): Promise<Installation> {
    const port = await freePort();
    const cluster = stack.use(await startCluster(scenario, { metricsServer: { host: '127.0.0.1', port } }));
    const server = stack.use(spawnInto(cluster, port, flags));
    return { cluster, server, port, kubectl: new Kubectl(await findKubectl(), cluster.files.kubeconfig) };
  }

  describe('with kubectl top', () => {
    it('serves the usage of each node', async () => {
      const rows = await top(healthy, ['nodes']);
      expect(rows.map(([name]) => name)).to.have.members(['node-1', 'node-2', 'node-3']);
      for (const [name = '', cpu = '', , memory = ''] of rows) {
        expectUsage({ cpu, memory }, healthy.cluster.truth.nodeUsage(name, lastSeconds(10)));
      }
    });

    it('serves the usage of each container of each pod', async () => {
      const rows = await top(healthy, ['pods', '-A', '--containers']);
      expect(rows).to.have.lengthOf(30);
      for (const [namespace = '', pod = '', container = '', cpu = '', memory = ''] of rows) {
        const truth = healthy.cluster.truth.containerUsage({ namespace, pod, container }, lastSeconds(10));
        expectUsage({ cpu, memory }, truth);
      }
    });

    it('serves memory in bytes', async () => {
      const { stdout } = await healthy.kubectl.run(['get', '--raw', '/apis/metrics.k8s.io/v1beta1/pods']);
      const { items } = JSON.parse(stdout) as PodMetricsList;
      for (const { metadata, containers } of items) {
        for (const { name, usage } of containers) {
          const path = { namespace: metadata.namespace, pod: metadata.name, container: name };
          const { memoryBytes } = healthy.cluster.truth.containerUsage(path, lastSeconds(1));
          expect(usage.memory).to.equal(`${memoryBytes / 1024}Ki`);
        }
      }
    });
  });

  describe('with kubectl top --show-swap', () => {
    let swapping: Installation;

    before(async () => {
      const { kubeconfig } = healthy.cluster.files;
      swapping = { ...healthy, kubectl: new Kubectl(await findKubectlWithSwap(), kubeconfig) };
    });

    it('serves the swap usage of each node', async () => {
      const rows = await top(swapping, ['nodes', '--show-swap']);
      const printed = rows.map(([name, , , , , swap, share]) => [name, swap, share]);
      expect(printed).to.deep.equal(
        rows.map(([name = '']) => {
          const swapBytes = healthy.cluster.node(name).machine.swapUsageBytes(performance.now());
          return [name, `${inMebibytes(swapBytes)}Mi`, `${Math.floor((swapBytes / 2 ** 30) * 100)}%`];
        }),
      );
      for (const [, swap = ''] of printed) expect(Number.parseInt(swap, 10)).to.be.above(0);
    });

    it('serves the swap usage of each container', async () => {
      const rows = await top(swapping, ['pods', '-A', '--containers', '--show-swap']);
      expect(rows).to.have.lengthOf(30);
      for (const [namespace = '', pod = '', container = '', , , swap] of rows) {
        const running = healthy.cluster.truth.container({ namespace, pod, container });
        expect(swap).to.equal(`${inMebibytes(running.swapBytes(performance.now()))}Mi`);
      }
    });
  });

  describe('with four of fifty kubelets broken', () => {
    it('serves metrics of all other nodes, and only of these', async () => {
      const unknown = (await top(faulty, ['nodes'])).filter(([, cpu]) => cpu === '<unknown>');
      expect(unknown.map(([name]) => name)).to.have.members(['node-7', 'node-8', 'node-9', 'node-10']);
    });

    for (const [node, cause] of [
      ['node-7', 'connection refused'],
      ['node-8', 'no TLS handshake within 3s'],
      ['node-9', 'not valid JSON'],
      ['node-10', 'no response before the next cycle was due'],
    ] as const) {
      it(`logs address and cause of ${node} once: ${cause}`, async () => {
        const { addresses } = await nodeStatus(faulty, node);
        const complaint = new RegExp(
          `Cannot scrape node .*${node}.* at ${addresses[0]?.address}:\\d+: .*${cause}`,
        );
        await faulty.server.line(complaint, 60_000);
        expect(faulty.server.output.filter((line) => complaint.test(line))).to.have.lengthOf(1);
      });
    }
  });

  describe('on SIGTERM', () => {
    it('exits within seconds of SIGTERM without errors, although connections are open', async () => {
      const { server, port } = await anotherServer();
      const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
      stack.defer(() => agent.destroy());
      await requestHttps(`https://127.0.0.1:${port}/livez`, { agent });
      const startMs = performance.now();
      server.kill('SIGTERM');
      expect(await server.ended).to.deep.equal({ status: 0, signal: null });
      expect(performance.now() - startMs).to.be.below(20_000); // idle connections stay open for longer
    });

    it('exits immediately at a second signal', async () => {
      const { server, port } = await anotherServer();
      const client = connect({ port, host: '127.0.0.1', rejectUnauthorized: false });
      await once(client, 'secureConnect');
      client.write('GET /livez HTTP/1.1\r\n');
      server.kill('SIGTERM');
      await server.line(/Shutting down/, 60_000);
      server.kill('SIGTERM');
      expect(await server.ended).to.deep.equal({ status: 1, signal: null });
      client.destroy();
    });

    async function anotherServer(): Promise<{ server: SpawnedProgram; port: number }> {
      const port = await freePort();
      const server = stack.use(spawnInto(healthy.cluster, port));
      await server.line(/Serving/, 60_000);
      return { server, port };
    }
  });

  describe('with invalid flags', () => {
    for (const [flags, complaint] of [
      [['--metric-resolution=5s'], /--metric-resolution=5s .*: must be at least 10s, or .*=resource/],
      [['--metric-resolution=4s'], /"4s" for --metric-resolution: .*5s/],
      [['--no-such-flag'], /--no-such-flag/],
      [['--clear\x9b2J\u202e'], /--clear\\u009b2J\\u202e/],
      [['--kubelet-request-timeout=soon'], /"soon" for --kubelet-request-timeout: /],
    ] as const) {
      it(`refuses ${JSON.stringify(flags.join(' '))} on one line, with status 1`, async () => {
        const [command, ...args] = SERVER_SOURCE;
        await using server = new SpawnedProgram(command, [...args, ...flags], { name: 'the server' });
        expect(await server.ended).to.deep.equal({ status: 1, signal: null });
        expect(server.output).to.have.lengthOf(1);
        expect(server.output[0]).to.match(complaint);
      });
    }
  });

  describe('in the benchmarks', () => {
    it('uses a bounded amount of CPU and memory', async function () {
      if (process.platform !== 'linux') this.skip();
      const { startToReadyMs, scraping, requests, firstRequests, peakResidentBytes, loads } = await benchmark;
      expect(startToReadyMs).to.be.above(11_000);
      expect(scraping.residentBytes).to.be.within(30e6, peakResidentBytes);
      const requested = requests.map(
        ({ format, gzip, protocol }) => `${format}${gzip ? ', gzip' : ''}, ${protocol}`,
      );
      expect(requested).to.deep.equal([
        'protobuf, HTTP/1.1',
        'protobuf, HTTP/2',
        'protobuf, gzip, HTTP/1.1',
        'protobuf, gzip, HTTP/2',
      ]);
      for (const { toBaseline } of requests) expect(toBaseline).to.be.above(0);
      expect(scraping.connections).to.deep.equal({ open: 1, retained: 1 });
      expect(scraping.endpoints.map(({ path }) => path)).to.deep.equal([
        '/stats/summary?only_cpu_and_memory=true',
      ]);
      expect(firstRequests[0]?.firstMs).to.have.lengthOf(1);
      expect(loads.map(({ name, requests: count }) => [name, count > 0])).to.deep.equal([
        ['idle', false],
        ['hpa', true],
        ['top', true],
        ['dash', true],
        ['churn', true],
      ]);
      for (const { cpuMillicores, medianMs } of loads) {
        expect(cpuMillicores).to.be.within(0, 5_000);
        if (medianMs !== null) expect(medianMs).to.be.above(0);
      }
    });
  });

  describe('in the demo', () => {
    it('prints both tables by the real kubectl, and exits with status 0', async () => {
      expect(await demo.ended).to.deep.equal({ status: 0, signal: null });
      const nodes = demo.output.filter((line) => /^node-\d+ +\d+m +\d+% +\d+Mi +\d+%/.test(line));
      const pods = demo.output.filter((line) => /^\S+ +\S+ +\d+m +\d+Mi/.test(line));
      expect([nodes.length, pods.length]).to.deep.equal([3, 30]);
    });
  });
});

interface PodMetricsList {
  readonly items: readonly {
    readonly metadata: { readonly namespace: string; readonly name: string };
    readonly containers: readonly { readonly name: string; readonly usage: { readonly memory: string } }[];
  }[];
}

function spawnInto({ files }: SimulatedCluster, port: number, flags: readonly string[] = []): SpawnedProgram {
  const { metricsServerKubeconfig: kubeconfig, kubeletCa, directory: folder } = files;
  return spawnServer({ kubeconfig, kubeletCa, folder, port, flags });
}

/** Runs `kubectl top` and returns the cells of its rows. */
async function top({ kubectl }: Installation, what: readonly string[]): Promise<string[][]> {
  const { stdout, stderr, exitStatus } = await kubectl.run(['top', ...what, '--no-headers']);
  expect(exitStatus, stderr).to.equal(0);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.trim().split(/\s+/));
}

/**
 * Compares kubectl's output with the true usage. CPU: within a tenth, the precision of whole-second timestamps over
 * 12 s, plus rounding up to a millicore. Memory: exactly, in whole mebibytes.
 */
function expectUsage(printed: { readonly cpu: string; readonly memory: string }, truth: TrueUsage): void {
  const trueMillicores = truth.cpuNanocores / 1e6;
  expect(printed.cpu).to.match(/^\d+m$/);
  expect(Number.parseInt(printed.cpu, 10)).to.be.within(trueMillicores * 0.9, trueMillicores * 1.1 + 1);
  expect(printed.memory).to.equal(`${inMebibytes(truth.memoryBytes)}Mi`);
}

/** Memory in kubectl's format. */
function inMebibytes(bytes: number): number {
  return Math.floor(bytes / 2 ** 20);
}

function lastSeconds(seconds: number): TruthWindow {
  const nowMs = Date.now();
  return { fromMs: nowMs - seconds * 1000, toMs: nowMs };
}

/** Status of a node on the simulated API server. */
async function nodeStatus({ kubectl }: Installation, name: string): Promise<NodeStatus> {
  const { stdout } = await kubectl.run(['get', 'node', name, '-o', 'json']);
  return (JSON.parse(stdout) as { status: NodeStatus }).status;
}

interface NodeStatus {
  readonly addresses: readonly { readonly type: string; readonly address: string }[];
}
