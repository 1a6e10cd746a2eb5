import { Registry } from 'prom-client';
import { type RunControllerOptions, runController } from '#lib/control/controller.ts';
import { ScaleClient } from '#lib/control/scale-client.ts';
import { ScaleLog } from '#lib/control/scale-log.ts';
import { DEFAULT_HPA_CONFIG } from '#lib/hpa/decision/decision-input.ts';
import type { HpaLoopOptions } from '#lib/hpa/hpa-controller.ts';
import { type HpaSubsystem, hpaSubsystem } from '#lib/hpa/hpa-subsystem.ts';
import type { QueryPrometheus } from '#lib/hpa/min-replicas/week-from-prometheus.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { DryRun } from '#lib/kubernetes/client/dry-run.ts';
import { type KindReference, RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import { SharedInformers } from '#lib/kubernetes/informer/shared-informers.ts';
import type { HpaVersion } from '#lib/kubernetes/objects/hpa-versions.ts';
import { parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import type { ApiFault } from '#simulator/api-server/faults.ts';
import { notFound } from '#simulator/api-server/status.ts';
import type { ScenarioInput } from '#simulator/scenario.ts';
import { eventually } from './eventually.ts';
import type { ManualClock } from './manual-clock.ts';
import { type MetricsApis, startMetricsApis } from './metrics-apis.ts';
import { RecordingLogger } from './recording-logger.ts';
import { type SimulatedApiServer, startSimulatedApiServer } from './simulated-api-server.ts';

/** The HPA controller beside an API server and metrics APIs, on one manual clock. */
export interface HpaCluster extends AsyncDisposable {
  readonly clock: ManualClock;
  readonly api: SimulatedApiServer['client'];
  readonly logger: RecordingLogger;
  readonly metrics: MetricsApis;
  /** Restricts the API server to another version of HPAs, as an upgrade does; this ends watches. */
  upgrade(version: HpaVersion): Promise<void>;
  /** Replaces the faults of the API server. */
  setFaults(...faults: readonly ApiFault[]): void;
  /** Recorded events as `OBJECT REASON MESSAGE`. */
  readonly events: string[];
  /** The running controller and its registry. */
  readonly running: { readonly registry: Registry; readonly subsystem: HpaSubsystem };
  /** Starts the controller, as a new leader does. */
  lead(
    options?: Partial<HpaLoopOptions>,
    more?: { readonly version?: HpaVersion; readonly queryPrometheus?: QueryPrometheus },
  ): Promise<void>;
  /** Stops the controller, as a leader does that lost its lease or crashed. */
  stop(): Promise<void>;
  deployment(name: string, replicas: number, namespace?: string): Promise<void>;
  /** Creates an HPA for the Deployment of the same name, on the external metric of that name with a target of 10 per replica. */
  hpa(
    name: string,
    more?: { readonly spec?: object; readonly metadata?: object },
    version?: HpaVersion,
  ): Promise<void>;
  /** Sets the external metric of a name. */
  queue(name: string, value: string): void;
  replicas(name: string): Promise<number>;
  // Untyped: each spec asserts the content of an object.
  get(name: string): Promise<ReturnType<typeof JSON.parse>>;
  /** Yields to sockets and advances the clock in steps until a condition holds. */
  passes(condition: () => boolean | Promise<boolean>, stepMs?: number): Promise<void>;
  /** Advances the clock by seconds and runs all that is due in each. */
  elapse(seconds: number): Promise<void>;
}

/** Collection paths by kind. */
export const PATHS = {
  hpas: '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers',
  deployments: '/apis/apps/v1/namespaces/default/deployments',
  memory: '/api/v1/namespaces/default/configmaps/autoscaler-hpa-memory',
};

const HPAS = 'horizontalpodautoscalers';

/** Discovery of an API server that serves one version of HPAs. */
function servingOnly(version: () => HpaVersion, mapper: RestMapper): Pick<RestMapper, 'findExact'> {
  const isHidden = ({ apiVersion }: KindReference) =>
    apiVersion.startsWith('autoscaling/') && apiVersion !== `autoscaling/${version()}`;
  return {
    findExact: async (kind, signal) => (isHidden(kind) ? undefined : await mapper.findExact(kind, signal)),
  };
}

export const HPA_OPTIONS: HpaLoopOptions = {
  syncPeriodMs: 15_000,
  concurrentSyncs: 4,
  config: DEFAULT_HPA_CONFIG,
  selector: parseLabelSelector(''),
  isDryRun: false,
  autoMin: { mode: 'recommend', weights: [7, 6, 5, 4, 3, 2, 1] },
};

/** Starts both; use with `await using`. */
export async function startHpaCluster(scenario: ScenarioInput = {}): Promise<HpaCluster> {
  await using starting = new AsyncDisposableStack();
  const server = starting.use(await startSimulatedApiServer({ scenario }));
  const { clock } = server;
  const metrics = starting.use(await startMetricsApis(server.cluster));
  const access = await server.access();
  const logger = new RecordingLogger();
  const events: string[] = [];
  let running: (HpaCluster['running'] & { readonly end: () => Promise<void> }) | undefined;
  const stop = async () => {
    await running?.end();
    running = undefined;
  };
  starting.defer(stop);
  const create = async (path: string, body: object) => {
    const response = await server.client.post(path, body);
    if (response.status !== 201) throw new Error(`Cannot create at ${path}: ${response.body.message}`);
  };
  const passes = async (condition: () => boolean | Promise<boolean>, stepMs = 0) => {
    await eventually(async () => {
      await clock.advance(stepMs);
      return await condition();
    });
  };
  let active = 0;
  let servedVersion: HpaVersion = 'v2';
  const stack = starting.move();
  return {
    ...{ clock, api: server.client, logger, metrics, events, stop, passes },
    setFaults: (...faults) => server.cluster.apiServer.setFaults(...faults),
    async upgrade(version) {
      servedVersion = version;
      const { apiServer } = server.cluster;
      apiServer.setFaults({
        async serve({ target }, { next }) {
          if (target.isResource && target.resource === HPAS && target.version !== version)
            throw notFound(target, target.name ?? '');
          await next();
        },
      });
      await apiServer.stop();
      await apiServer.start();
    },
    get running() {
      if (!running) throw new Error('nobody leads');
      return running;
    },
    async lead(options = {}, { version = 'v2', queryPrometheus } = {}) {
      servedVersion = version;
      const registry = new Registry();
      const dryRun = options.isDryRun ? new DryRun({ clock, logger }) : undefined;
      const scaleLog = new ScaleLog({ logger, dryRun });
      const client = new ApiClient({ access, clock, userAgent: 'spec/1', dryRun });
      const mapper = new RestMapper({ api: client, clock });
      const served = servingOnly(() => servedVersion, mapper);
      const informers = new SharedInformers({ client, mapper: served, clock, logger });
      const subsystem = hpaSubsystem({
        ...{ client, mapper, informers, registry, clock, logger, queryPrometheus },
        scaleLog,
        scales: new ScaleClient({ api: client, mapper, clock, scaleLog }),
        events: {
          record: ({ regarding: { name }, reason, message }) =>
            void events.push(`${name} ${reason} ${message}`),
        },
        options: { ...HPA_OPTIONS, ...options },
      });
      subsystem.start();
      const ending = new AbortController();
      const run: RunControllerOptions = { clock, logger, signal: ending.signal, workers: 50 };
      const controller = await subsystem.controller(ending.signal);
      const done = runController(
        {
          ...controller,
          async reconcile(key, signal) {
            active++;
            try {
              return await controller.reconcile(key, signal);
            } finally {
              active--;
            }
          },
        },
        run,
      );
      const end = async () => {
        ending.abort(new Error('not the leader any more'));
        await done;
        await controller[Symbol.asyncDispose]();
        await informers[Symbol.asyncDispose]();
        await client[Symbol.asyncDispose]();
      };
      running = { registry, subsystem, end };
      await passes(() => subsystem.isSynced);
    },
    deployment: (name, replicas, namespace = 'default') =>
      create(PATHS.deployments.replace('default', namespace), {
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name },
        spec: {
          replicas,
          selector: { matchLabels: { app: name } },
          template: {
            metadata: { labels: { app: name } },
            spec: {
              containers: [{ name: 'main', image: 'nginx', resources: { requests: { cpu: '100m' } } }],
            },
          },
        },
      }),
    hpa: (name, { spec, metadata } = {}, version = 'v2') =>
      create(PATHS.hpas.replace('v2', version), {
        apiVersion: `autoscaling/${version}`,
        kind: 'HorizontalPodAutoscaler',
        metadata: { name, ...metadata },
        spec: {
          scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name },
          minReplicas: 1,
          maxReplicas: 20,
          metrics: [
            {
              type: 'External',
              external: { metric: { name }, target: { type: 'AverageValue', averageValue: '10' } },
            },
          ],
          ...spec,
        },
      }),
    queue(name, value) {
      const path = `/apis/external.metrics.k8s.io/v1beta1/namespaces/default/${name}`;
      metrics.responses.set(path, { items: [{ metricName: name, value }] });
    },
    replicas: async (name) => (await server.client.get(`${PATHS.deployments}/${name}`)).body.spec.replicas,
    get: async (name) => (await server.client.get(`${PATHS.hpas}/${name}`)).body,
    async elapse(seconds) {
      for (let second = 0; second < seconds; second++) {
        await clock.advance(1000);
        await passes(() => active === 0);
      }
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
