import { once } from 'node:events';
import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import Koa from 'koa';
import type { ApiContext } from '#lib/apiserver/http/api-context.ts';
import { openApiClients } from '#lib/autoscaler/api-clients.ts';
import { MetricStore } from '#lib/collection/metric-store.ts';
import { PollLimits } from '#lib/collection/poll-limits.ts';
import { runController } from '#lib/control/controller.ts';
import { ScaleClient } from '#lib/control/scale-client.ts';
import { ScaleLog } from '#lib/control/scale-log.ts';
import { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import { SharedInformers } from '#lib/kubernetes/informer/shared-informers.ts';
import { parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import {
  type ScaledObjectsSubsystem,
  scaledObjectsSubsystem,
} from '#lib/scaled-objects/scaled-objects-subsystem.ts';
import type { Trigger } from '#lib/scaled-objects/triggers/trigger.ts';
import { openTriggerEnvironment } from '#lib/scaled-objects/triggers/trigger-environment.ts';
import { allTriggers, TriggerTypes } from '#lib/scaled-objects/triggers/trigger-registry.ts';
import type { FindAddresses } from '#lib/sources/network/allowed-hosts.ts';
import { SlicedRegistry } from '#lib/telemetry/sliced-registry.ts';
import type { ApiFault } from '#simulator/api-server/faults.ts';
import { readDefinition } from './definition-file.ts';
import { elapseSeconds } from './elapse-seconds.ts';
import { eventually } from './eventually.ts';
import type { ManualClock } from './manual-clock.ts';
import { RecordingLogger } from './recording-logger.ts';
import { type SimulatedApiServer, startSimulatedApiServer } from './simulated-api-server.ts';

const CRDS = ['scaled-object', 'scaled-job', 'trigger-authentication', 'cluster-trigger-authentication'];
const KOA = new Koa();
/** Exceeds every deadline: sockets need real time, while the manual clock can pass any deadline. */
const NEVER_MS = 1e12;
const UNLIMITED = { perSecond: 1e9, burst: 1e9 };

/** Collection paths by kind. */
export const PATHS = {
  scaledObjects: '/apis/keda.sh/v1alpha1/namespaces/default/scaledobjects',
  scaledJobs: '/apis/keda.sh/v1alpha1/namespaces/default/scaledjobs',
  jobs: '/apis/batch/v1/namespaces/default/jobs',
  authentications: '/apis/keda.sh/v1alpha1/namespaces/default/triggerauthentications',
  hpas: '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers',
  deployments: '/apis/apps/v1/namespaces/default/deployments',
  secrets: '/api/v1/namespaces/default/secrets',
};

/** ScaledObjects beside an API server and an HTTP source, on one manual clock. */
export interface ScaledObjectsCluster extends AsyncDisposable {
  readonly clock: ManualClock;
  readonly api: SimulatedApiServer['client'];
  /** Replaces the faults of the API server. */
  setFaults(...faults: readonly ApiFault[]): void;
  readonly logger: RecordingLogger;
  readonly store: MetricStore;
  /** The controller's series in `/metrics`. */
  series(): Promise<string>;
  /** The content of `/debug/scaled-objects`. */
  debug(query?: string): Promise<ReturnType<typeof JSON.parse>>;
  /** Recorded events as `OBJECT REASON MESSAGE`. */
  readonly events: string[];
  /** The source's response by path: a number, or an error status. */
  readonly source: Map<string, number | { readonly status: number }>;
  readonly sourceUrl: string;
  /** Number of requests that the source received for a path. */
  requested(path: string): number;
  readonly subsystem: ScaledObjectsSubsystem;
  /** Starts the controller as a leader that has already watched as a standby while `whileWatching` ran. */
  lead(whileWatching?: () => Promise<void>): Promise<void>;
  /** Stops the controller, as a leader does that lost its lease or crashed. */
  stop(): Promise<void>;
  deployment(name: string, replicas: number, container?: object): Promise<void>;
  scaledObject(name: string, spec: object, metadata?: object): Promise<void>;
  /** A trigger that queries a path of the source: target 5, active above 0. */
  trigger(path: string, more?: object): object;
  create(path: string, body: object): Promise<void>;
  replicas(name: string): Promise<number>;
  setReplicas(name: string, replicas: number): Promise<void>;
  // Untyped: each spec asserts the content of an object.
  get(path: string): Promise<ReturnType<typeof JSON.parse>>;
  status(name: string): Promise<ReturnType<typeof JSON.parse>>;
  /** `STATUS REASON MESSAGE` of a condition. */
  condition(name: string, type: string): Promise<string>;
  /** The value of an external metric that HPAs get, or the error message. */
  external(metric: string, name: string): string;
  /** Yields to sockets until a condition holds, without advancing the clock. */
  untilMet(condition: () => boolean | Promise<boolean>): Promise<void>;
  /** Advances the clock by seconds and runs all that is due in each. */
  elapse(seconds: number): Promise<void>;
}

/** Starts all of them; use with `await using`. */
export async function startScaledObjectsCluster(
  more: {
    readonly triggers?: readonly Trigger[];
    readonly namespaces?: readonly string[];
    readonly findAddresses?: FindAddresses;
    /** Rate limit of each client that has one; by default unlimited. */
    readonly apiRate?: { readonly perSecond: number; readonly burst: number };
    /** Number of concurrent reconciliations; by default 4. */
    readonly workers?: number;
  } = {},
): Promise<ScaledObjectsCluster> {
  await using starting = new AsyncDisposableStack();
  const definitions = CRDS.map((name) => readDefinition(`keda/${name}`));
  const server = starting.use(await startSimulatedApiServer({ definitions }));
  const { clock } = server;
  const access = await server.access();
  const logger = new RecordingLogger();
  const events: string[] = [];
  const store = new MetricStore();
  let registry = new SlicedRegistry();
  const http = await startSource();
  starting.defer(http.close);
  let running: { subsystem: ScaledObjectsSubsystem; end: () => Promise<void> } | undefined;
  const stop = async () => {
    await running?.end();
    running = undefined;
  };
  starting.defer(stop);
  const create = async (path: string, body: object) => {
    const response = await server.client.post(path, body);
    if (response.status !== 201) throw new Error(`Cannot create at ${path}: ${response.body.message}`);
  };
  const get = async (path: string) => (await server.client.get(path)).body;
  const stack = starting.move();
  return {
    ...{ clock, api: server.client, logger, store, events, stop, create, get },
    setFaults: (...faults) => server.cluster.apiServer.setFaults(...faults),
    source: http.values,
    sourceUrl: http.url,
    requested: (path) => http.requested.get(path) ?? 0,
    get subsystem() {
      if (!running) throw new Error('nobody leads');
      return running.subsystem;
    },
    series: () => registry.metrics(),
    async debug(query = '') {
      const url = `/debug/scaled-objects${query}`;
      const request = Object.assign(new IncomingMessage(new Socket()), { method: 'GET', url });
      const context: ApiContext = Object.assign(KOA.createContext(request, new ServerResponse(request)), {
        state: { query: new URLSearchParams(query) },
      }) as never;
      await running?.subsystem.endpoints.get('/debug/scaled-objects')?.(context);
      return JSON.parse(String(context.body));
    },
    async lead(whileWatching) {
      registry = new SlicedRegistry();
      const clients = openApiClients({
        ...{ access, clock, userAgent: 'spec/1', requestTimeoutMs: NEVER_MS },
        ...{ rate: more.apiRate ?? UNLIMITED, beforeWrite: () => {}, dryRun: undefined },
      });
      const { controllers: client, references: reader } = clients;
      const scaleLog = new ScaleLog({ logger });
      const mapper = new RestMapper({ api: client, clock });
      const sources = openTriggerEnvironment({
        ...{ clock, userAgent: 'spec/1', allowedHosts: ['127.0.0.0/8'], timeoutMs: NEVER_MS },
        listPods: async () => [],
        listEndpoints: async () => [],
        findAddresses: more.findAddresses,
      });
      registry.add(sources.durations.series);
      const triggers = allTriggers(sources);
      const informers = new SharedInformers({ client, mapper, clock, logger });
      const subsystem = scaledObjectsSubsystem({
        ...{ client, reader, scaleLog, mapper, informers, store, clock, logger },
        scales: new ScaleClient({ api: client, mapper, clock, scaleLog }),
        events: {
          record: ({ regarding: { name }, reason, message }) =>
            void events.push(`${name} ${reason} ${message}`),
        },
        pollLimits: new PollLimits(clock),
        share: sources.share,
        types: new TriggerTypes([...triggers, ...(more.triggers ?? [])]),
        registry,
        version: '1.2.3',
        options: {
          namespaces: more.namespaces ?? [],
          clusterNamespace: 'kube-system',
          restrictsSecrets: false,
          fileRoot: undefined,
          tokenLifetimeS: 3600,
          tokenAudience: undefined,
          kedaNamespace: 'keda',
          kedaLeaseEverywhere: false,
        },
        random: () => 1 - Number.EPSILON, // the first interval is a whole one, too
      });
      const ending = new AbortController();
      await subsystem.cacheObjects(ending.signal);
      const run = { clock, logger, signal: ending.signal, workers: more.workers ?? 4, deadlineMs: NEVER_MS };
      const jobs = subsystem.jobController();
      const authentications = subsystem.authenticationControllers();
      const done = [runController(subsystem.collectors(), run)];
      const end = async () => {
        ending.abort(new Error('not the leader any more'));
        await Promise.all(done);
        await jobs[Symbol.asyncDispose]();
        await subsystem[Symbol.asyncDispose]();
        await informers[Symbol.asyncDispose]();
        await sources[Symbol.asyncDispose]();
        await clients[Symbol.asyncDispose]();
      };
      running = { subsystem, end };
      await whileWatching?.();
      for (const one of [subsystem.controller(), jobs, ...authentications])
        done.push(runController(one, run));
    },
    deployment: (name, replicas, container = {}) =>
      create(PATHS.deployments, {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name },
        spec: {
          replicas,
          selector: { matchLabels: { app: name } },
          template: {
            metadata: { labels: { app: name } },
            spec: { containers: [{ name: 'main', image: 'nginx', ...container }] },
          },
        },
      }),
    scaledObject: (name, spec, metadata = {}) =>
      create(PATHS.scaledObjects, {
        apiVersion: 'keda.sh/v1alpha1',
        kind: 'ScaledObject',
        metadata: { name, ...metadata },
        spec: { scaleTargetRef: { name }, ...spec },
      }),
    trigger: (path, trigger = {}) => ({
      type: 'metrics-api',
      ...trigger,
      metadata: {
        url: `${http.url}${path}`,
        valueLocation: 'value',
        targetValue: '5',
        ...(trigger as { metadata?: object }).metadata,
      },
    }),
    replicas: async (name) => (await get(`${PATHS.deployments}/${name}`)).spec.replicas,
    async setReplicas(name, replicas) {
      await server.client.patch(`${PATHS.deployments}/${name}`, 'merge', { spec: { replicas } });
    },
    status: async (name) => (await get(`${PATHS.scaledObjects}/${name}`)).status ?? {},
    async condition(name, type) {
      const { conditions = [] } = (await get(`${PATHS.scaledObjects}/${name}`)).status ?? {};
      const found = conditions.find((one: { type: string }) => one.type === type);
      return found ? [found.status, found.reason, found.message].filter(Boolean).join(' ') : '';
    },
    external(metric, name) {
      const selector = parseLabelSelector(`scaledobject.keda.sh/name=${name}`);
      try {
        const values = store.values('default', { metric, selector });
        return values ? values.map(({ value }) => value).join(' ') : 'no such metric';
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    },
    untilMet: async (condition) => {
      await eventually(async () => {
        await clock.advance(10);
        return await condition();
      });
    },
    elapse: (seconds) => elapseSeconds(clock, seconds, 2),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

async function startSource() {
  const values = new Map<string, number | { readonly status: number }>();
  const requested = new Map<string, number>();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    requested.set(path, (requested.get(path) ?? 0) + 1);
    const value = values.get(path) ?? { status: 404 };
    response.writeHead(typeof value === 'number' ? 200 : value.status, {
      'content-type': 'application/json',
    });
    response.end(JSON.stringify({ value }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    ...{ values, requested, url: `http://127.0.0.1:${port}` },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
