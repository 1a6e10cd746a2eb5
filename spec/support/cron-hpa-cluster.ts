import { Registry } from 'prom-client';
import { type RunControllerOptions, runController } from '#lib/control/controller.ts';
import { ScaleClient } from '#lib/control/scale-client.ts';
import { ScaleLog } from '#lib/control/scale-log.ts';
import { cronHpaSubsystem } from '#lib/cron-hpa/cron-hpa-subsystem.ts';
import { ApiClient, type ApiClientOptions } from '#lib/kubernetes/client/api-client.ts';
import { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import { SharedInformers } from '#lib/kubernetes/informer/shared-informers.ts';
import type { ApiFault } from '#simulator/api-server/faults.ts';
import { readDefinition } from './definition-file.ts';
import { ManualClock } from './manual-clock.ts';
import { RecordingLogger } from './recording-logger.ts';
import { type SimulatedApiServer, startSimulatedApiServer } from './simulated-api-server.ts';

/** Exceeds every deadline: sockets need real time, while the manual clock can pass any deadline. */
const NEVER_MS = 1e12;

/** Cron-HPA beside an API server, on one manual clock. */
export interface CronHpaCluster extends AsyncDisposable {
  readonly clock: ManualClock;
  readonly api: SimulatedApiServer['client'];
  readonly logger: RecordingLogger;
  readonly registry: Registry;
  /** Replaces the faults of the API server. */
  setFaults(...faults: readonly ApiFault[]): void;
  /** Recorded events as `OBJECT REASON MESSAGE`. */
  readonly events: string[];
  /** Starts the controller, as a new leader does. */
  lead(options?: Partial<RunControllerOptions>): Promise<void>;
  /** Stops the controller, as a leader does that lost its lease or crashed. */
  stop(): Promise<void>;
  /** Creates a Deployment with its replicas. */
  deployment(name: string, replicas: number, namespace?: string): Promise<void>;
  /** Creates a CronHorizontalPodAutoscaler for the Deployment of the same name, unless its spec names another target. */
  cronHpa(
    name: string,
    jobs: readonly object[],
    more?: { readonly spec?: object; readonly metadata?: object },
  ): Promise<void>;
  /** The desired replicas of a Deployment. */
  replicas(name: string): Promise<number>;
  // Untyped: each spec asserts the content of a status.
  status(name: string): Promise<ReturnType<typeof JSON.parse>>;
}

/** Collection paths by kind. */
export const PATHS = {
  cronHpas: '/apis/autoscaling.stke.com/v1beta1/namespaces/default/cronhorizontalpodautoscalers',
  hpas: '/apis/autoscaling/v1/namespaces/default/horizontalpodautoscalers',
  deployments: '/apis/apps/v1/namespaces/default/deployments',
};

/** Starts both; use with `await using`. */
export async function startCronHpaCluster(
  now: string,
  clientOptions: Partial<ApiClientOptions> = {},
  { runsAlibaba = false }: { readonly runsAlibaba?: boolean } = {},
): Promise<CronHpaCluster> {
  await using starting = new AsyncDisposableStack();
  const clock = new ManualClock(Date.parse(now));
  const server = starting.use(
    await startSimulatedApiServer({ clock, definitions: [readDefinition('cron-horizontal-pod-autoscaler')] }),
  );
  const access = await server.access();
  const logger = new RecordingLogger();
  const events: string[] = [];
  let running:
    | { ending: AbortController; done: Promise<void>; close: () => Promise<void>; registry: Registry }
    | undefined;
  const stop = async () => {
    running?.ending.abort(new Error('not the leader any more'));
    await running?.done;
    await running?.close();
    running = undefined;
  };
  starting.defer(stop);
  const create = async (path: string, body: object) => {
    const response = await server.client.post(path, body);
    if (response.status !== 201) throw new Error(`Cannot create at ${path}: ${response.body.message}`);
  };
  const stack = starting.move();
  return {
    clock,
    api: server.client,
    logger,
    events,
    setFaults: (...faults) => server.cluster.apiServer.setFaults(...faults),
    get registry() {
      if (!running) throw new Error('nobody leads');
      return running.registry;
    },
    async lead(options = {}) {
      const registry = new Registry();
      const client = new ApiClient({
        access,
        clock,
        userAgent: 'spec/1',
        requestTimeoutMs: NEVER_MS,
        ...clientOptions,
      });
      const scaleLog = new ScaleLog({ logger });
      const mapper = new RestMapper({ api: client, clock });
      const informers = new SharedInformers({ client, mapper, clock, logger });
      const subsystem = cronHpaSubsystem({
        ...{ client, informers, scaleLog },
        scales: new ScaleClient({ api: client, mapper, clock, scaleLog }),
        events: {
          record: ({ regarding: { name }, reason, message }) =>
            void events.push(`${name} ${reason} ${message}`),
        },
        ...{ registry, clock, logger, runsAlibaba },
        timeZone: 'Asia/Shanghai',
      });
      subsystem.start();
      const ending = new AbortController();
      const run = { clock, logger, signal: ending.signal, workers: 4, deadlineMs: NEVER_MS, ...options };
      const done = subsystem.controllers(ending.signal).then(
        async (controllers) => {
          await Promise.all(controllers.map((controller) => runController(controller, run)));
        },
        () => {}, // already ended
      );
      const close = async () => {
        await subsystem[Symbol.asyncDispose]();
        await informers[Symbol.asyncDispose]();
        await client[Symbol.asyncDispose]();
      };
      running = { ending, done, close, registry };
    },
    stop,
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
            spec: { containers: [{ name: 'main', image: 'nginx' }] },
          },
        },
      }),
    cronHpa: (name, jobs, { spec, metadata } = {}) =>
      create(PATHS.cronHpas, {
        apiVersion: 'autoscaling.stke.com/v1beta1',
        kind: 'CronHorizontalPodAutoscaler',
        metadata: { name, ...metadata },
        spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name }, jobs, ...spec },
      }),
    replicas: async (name) => (await server.client.get(`${PATHS.deployments}/${name}`)).body.spec.replicas,
    status: async (name) => (await server.client.get(`${PATHS.cronHpas}/${name}`)).body.status ?? {},
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
