import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { startAutoscaler } from '#lib/autoscaler/autoscaler.ts';
import { parseAutoscalerOptions } from '#lib/autoscaler/options/autoscaler-options.ts';
import { versionInfo } from '#lib/program.ts';
import { readDefinition } from './definition-file.ts';
import { elapseSeconds } from './elapse-seconds.ts';
import { eventually } from './eventually.ts';
import { type HttpsResponse, requestHttps } from './https-request.ts';
import type { ManualClock } from './manual-clock.ts';
import { type MetricsApis, startMetricsApis } from './metrics-apis.ts';
import { RecordingLogger } from './recording-logger.ts';
import { type SimulatedApiServer, startSimulatedApiServer } from './simulated-api-server.ts';

/** An autoscaler with all subsystems, in a simulated cluster on a manual clock, and a user who may view it. */
export interface WatchedAutoscaler extends AsyncDisposable {
  readonly origin: string;
  readonly clock: ManualClock;
  readonly server: SimulatedApiServer;
  readonly metrics: MetricsApis;
  /** The response of an HTTP source by path; 503 for other paths. */
  readonly source: Map<string, number>;
  readonly sourceUrl: string;
  create(path: string, body: object): Promise<void>;
  deployment(name: string, replicas: number): Promise<void>;
  /** Sends a request, by default as a user who may view the pages. */
  get(path: string, token?: string | undefined): Promise<HttpsResponse>;
  /** Advances the clock by seconds and runs all that is due in each. */
  elapse(seconds: number): Promise<void>;
}

/** Token of a user who may view `/ui` and `/debug/`. */
export const VIEWER_TOKEN = 'viewer-token';
/** Token of a user without permissions. */
export const STRANGER_TOKEN = 'stranger-token';

const CRDS = [
  'cron-horizontal-pod-autoscaler',
  ...['scaled-object', 'scaled-job', 'trigger-authentication', 'cluster-trigger-authentication'].map(
    (name) => `keda/${name}`,
  ),
];
const DEPLOYMENTS = '/apis/apps/v1/namespaces/default/deployments';

/** Starts all of them; use with `await using`. */
export async function startWatchedAutoscaler(flags: readonly string[] = []): Promise<WatchedAutoscaler> {
  await using starting = new AsyncDisposableStack();
  const definitions = CRDS.map((name) => readDefinition(name));
  const server = starting.use(await startSimulatedApiServer({ definitions }));
  const { clock, cluster, client } = server;
  const metrics = starting.use(await startMetricsApis(cluster));
  cluster.authenticator.setToken(VIEWER_TOKEN, { username: 'viewer' });
  cluster.authenticator.setToken(STRANGER_TOKEN, { username: 'stranger' });
  const rules = [{ verbs: ['get', 'head'], nonResourceURLs: ['/debug/*', '/ui', '/ui/new'] }];
  cluster.rbac.grant({ name: 'debug', role: 'debug', users: ['viewer'], rules });
  const http = await startSource();
  starting.defer(http.close);
  const commandLine = parseAutoscalerOptions([
    ...['--bind-address=127.0.0.1', '--secure-port=0', `--cert-dir=${join(dirname(server.kubeconfig), 'a')}`],
    ...['--controllers=*,hpa,scaledobjects', '--allowed-hosts=127.0.0.0/8', ...flags],
  ]);
  if (commandLine.kind !== 'run') throw new Error('It is to run');
  const autoscaler = starting.use(
    await startAutoscaler(commandLine.options, {
      ...{ access: await server.access(), clock, logger: new RecordingLogger(), identity: 'replica-1' },
      version: versionInfo(process),
    }),
  );
  await eventually(async () => {
    await clock.advance(0);
    return autoscaler.isLeader;
  });
  const origin = `https://127.0.0.1:${autoscaler.address.port}`;
  const create = async (path: string, body: object) => {
    const response = await client.post(path, body);
    if (response.status !== 201) throw new Error(`Cannot create at ${path}: ${response.body.message}`);
  };
  const stack = starting.move();
  return {
    ...{ origin, clock, server, metrics, source: http.values, sourceUrl: http.url, create },
    async deployment(name, replicas) {
      const labels = { app: name };
      const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'nginx' }] } };
      const spec = { replicas, selector: { matchLabels: labels }, template };
      await create(DEPLOYMENTS, { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec });
    },
    get: (path, token = VIEWER_TOKEN) =>
      requestHttps(`${origin}${path}`, { rejectUnauthorized: false, ...(token !== '' && { token }) }),
    elapse: (seconds) => elapseSeconds(clock, seconds, 4),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function startSource() {
  const values = new Map<string, number>();
  const server = createServer((request, response) => {
    const value = values.get(request.url ?? '');
    response.writeHead(value === undefined ? 503 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ value }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    ...{ values, url: `http://127.0.0.1:${port}` },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
