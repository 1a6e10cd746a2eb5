import { join } from 'node:path';
import type { VersionInfo } from '#lib/apiserver/discovery/version-info.ts';
import { openServingCertificates } from '#lib/apiserver/serving/serving-certificates.ts';
import { Collection } from '#lib/collection/collection.ts';
import type { MetricStore } from '#lib/collection/metric-store.ts';
import type { PollLimits } from '#lib/collection/poll-limits.ts';
import type { EventLoopShare } from '#lib/concurrency/event-loop.ts';
import { type Controller, mapKeys, runController } from '#lib/control/controller.ts';
import { KeyEmitter } from '#lib/control/key-emitter.ts';
import { ReplicaWork } from '#lib/control/replica-work.ts';
import type { ControllerEnvironment, Subsystem } from '#lib/control/subsystem.ts';
import type { WorkQueueSeries } from '#lib/control/work-queue-series.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { objectPath } from '#lib/kubernetes/client/api-resource.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import { waitUntilServed } from '#lib/kubernetes/informer/wait-until-served.ts';
import { HPAS, readPlainHpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import type { FindAddresses } from '#lib/sources/network/allowed-hosts.ts';
import { LineBudgets } from '#lib/telemetry/line-budget.ts';
import type { SlicedRegistry } from '#lib/telemetry/sliced-registry.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';
import type { UiPart } from '#lib/ui/page.ts';
import { readScaledJob, readScaledObject, readTriggerAuthentication } from './api/cached-objects.ts';
import {
  declareInformers,
  findOverlapping,
  findOverlappingHpas,
  findOwners,
  type ManagedHpa,
} from './api/informers.ts';
import {
  CLUSTER_TRIGGER_AUTHENTICATIONS,
  SCALED_JOBS,
  SCALED_OBJECTS,
  TRIGGER_AUTHENTICATIONS,
} from './api/resources.ts';
import { createStatusWrites } from './api/status-writes.ts';
import { AUTHENTICATION_KINDS } from './api/trigger-authentication.ts';
import { KedaDetector } from './coexistence/keda-detector.ts';
import { JobClient } from './jobs/job-client.ts';
import { ScaledJobStates } from './jobs/job-context.ts';
import { scaledJobController } from './jobs/scaled-job-controller.ts';
import { PushScalerStreams } from './metrics/pushed-triggers.ts';
import { ScaledObjectCollectors } from './metrics/scaled-object-collectors.ts';
import { debugScaledObjects } from './observability/debug-scaled-objects.ts';
import { buildSeries, kedaSeries, registeredSeries } from './observability/keda-series.ts';
import type { JobTerm } from './observability/object-report.ts';
import { scaledObjectsUi } from './observability/scaled-objects-ui.ts';
import { PreparedObjects } from './preparation/prepared-objects.ts';
import { compileScaledJob } from './preparation/prepared-scaled-job.ts';
import type { PreparedScaledObject } from './preparation/prepared-scaled-object.ts';
import type { ScaledObjectsFlags, ScaledObjectsOptions, WebhookOptions } from './scaled-objects-options.ts';
import { HpaClient } from './scaling/hpa-client.ts';
import { ScaledObjectStates } from './scaling/reconcile-context.ts';
import { scaledObjectController } from './scaling/scaled-object-controller.ts';
import { clusterReader, fetchReference } from './triggers/authentication/reference-reader.ts';
import { sharedReader } from './triggers/authentication/shared-reader.ts';
import { triggerAuthenticationController } from './triggers/authentication/trigger-authentication-controller.ts';
import { listEndpoints, listPods } from './triggers/cluster-lookups.ts';
import { openTriggerEnvironment } from './triggers/trigger-environment.ts';
import { allTriggers, TriggerTypes } from './triggers/trigger-registry.ts';
import { Admission } from './validation/admission-webhook.ts';
import { cachedLimits, limitedByDefault } from './validation/limit-ranges.ts';
import { WebhookSeries } from './validation/webhook-series.ts';
import { startWebhookServer } from './validation/webhook-server.ts';

interface ScaledObjectsEnvironment extends ControllerEnvironment {
  /** Reads for triggers in every replica; unlike `client`, it also works in replicas that do not lead. */
  readonly reader: ApiClient;
  readonly store: MetricStore;
  readonly types: TriggerTypes;
  /** Shared by all collections of the process. */
  readonly pollLimits: PollLimits;
  /** Time slices for reading responses and preparing triggers. */
  readonly share: EventLoopShare;
  readonly registry: Pick<SlicedRegistry, 'add'>;
  /** Version of this program, for labels. */
  readonly version: string;
  readonly options: ScaledObjectsOptions;
  /** Objects of one kind that are reconciled concurrently; by default 1. */
  readonly workers?: number;
  readonly workQueues?: WorkQueueSeries | undefined;
  /** A number in [0, 1): spreads requests; by default `Math.random`. */
  readonly random?: () => number;
}

/** Disposing it stops polling. */
export interface ScaledObjectsSubsystem extends Subsystem {
  readonly ui: readonly UiPart[];
  lead(signal: AbortSignal): Promise<void>;
  /**
   * Starts the informers, in every replica.
   *
   * @returns once KEDA's kinds are synced and HPAs are served in a version that has metrics
   * @throws the signal's reason when it aborts first
   */
  cacheObjects(signal: AbortSignal): Promise<void>;
  /** Whether it waits for a kind to be served, or for permission to list it. */
  readonly isWaiting: boolean;
  readonly isSynced: boolean;
  /** Whether every trigger was polled once or its first timeout has passed. */
  readonly isWarm: boolean;
  /** Validates objects before the API server stores them, against the caches of informers. */
  readonly admission: Admission;
  /** See {@link KedaDetector.runWhileSoleOperator}. */
  runWhileSoleOperator(signal: AbortSignal, act: (signal: AbortSignal) => Promise<void>): Promise<void>;
  /** Runs in every replica: polls triggers. */
  collectors(): Controller;
  /** Runs in the leader; a new one for each term. */
  controller(): Controller & AsyncDisposable;
  /** Run in the leader. */
  authenticationControllers(): readonly Controller[];
  /** Runs in the leader; a new one for each term. Disposing it stops the polls of ScaledJobs. */
  jobController(): Controller & AsyncDisposable;
}

/** Limits the backoff after failures of the API server. */
const RETRY = { maxDelayMs: 60_000 };
const COLLECTOR_WORKERS = 8;
/** Versions with external metrics. */
const HPA_VERSIONS = ['v2', 'v2beta2'];
const SOURCE_TIMEOUT_MS = 15_000;
/** Limits log lines about failing sources of one namespace, which may change with each poll. */
const MAX_LINES_PER_HOUR = 100;

/** Wires the subsystem: triggers → collectors → external metrics, HPAs and activation. */
export function scaledObjectsSubsystem(environment: ScaledObjectsEnvironment): ScaledObjectsSubsystem {
  const { client, mapper, clock, logger, store, types, share, options, random = Math.random } = environment;
  const { informers } = environment;
  const informed = declareInformers({ informers, namespaces: options.namespaces, logger, clock });
  const { objects, scaledJobs, authentications, clusterAuthentications, workloads, targets, hpas } = informed;
  const tenantLineBudgets = new LineBudgets(clock, MAX_LINES_PER_HOUR);
  const newCollection = () =>
    new Collection({
      ...{ clock, logger, random, tenantLineBudgets, timeoutMs: SOURCE_TIMEOUT_MS },
      limits: environment.pollLimits,
      onPolled: () => {},
    });
  const collection = newCollection();
  const reader = sharedReader(
    clusterReader({
      ...{ client: environment.reader, authentication: informed.authentication },
      ...options,
    }),
    clock,
  );
  const states = new ScaledObjectStates();
  const plans = new ScaledObjectCollectors({
    ...{ objects, workloads, types, reader, share, collection, store, clock },
    scales: environment.scales,
    related: [targets, ...informed.authenticationsOfObjects],
    async readTarget(target, signal) {
      const resource = await fetchReference(() => mapper.find(target, signal), signal);
      if (!resource?.namespaced)
        throw new Error(`the API server serves no ${target.kind} of ${target.apiVersion} in namespaces`);
      const read = () => environment.reader.getJson(objectPath(resource, target), { signal });
      return await fetchReference(read, signal);
    },
    authenticationsOf: (object) => informed.authenticationsOf(object),
  });
  const overlapping = (prepared: PreparedScaledObject) =>
    findOverlapping(objects, prepared).map((object) => plans.prepared(object));
  let jobTerm: JobTerm | undefined;
  const reportOptions = { objects, jobs: scaledJobs, plans, collection, jobTerm: () => jobTerm };
  environment.registry.add(kedaSeries(reportOptions));
  const kinds = {
    scaled_object: objects,
    scaled_job: scaledJobs,
    trigger_authentication: authentications,
    cluster_trigger_authentication: clusterAuthentications,
  };
  environment.registry.add(registeredSeries({ kinds, types }));
  const webhook = new WebhookSeries();
  environment.registry.add(webhook.series);
  let hpaClient: HpaClient | undefined;
  const kedaDetector = new KedaDetector({
    ...{ client: environment.reader, clock, logger, events: environment.events },
    ...{ kedaNamespace: options.kedaNamespace, kedaLeaseEverywhere: options.kedaLeaseEverywhere },
    kinds: { ScaledObject: objects, ScaledJob: scaledJobs },
    hpas,
  });
  const ready = Promise.withResolvers<void>();
  const collecting = new ReplicaWork({
    ...{ name: 'scaledobjects-collectors', logger },
    async run(signal) {
      await subsystem.cacheObjects(signal);
      ready.resolve();
      await runController(plans.controller(), {
        ...{ clock, logger, signal, series: environment.workQueues },
        workers: COLLECTOR_WORKERS,
        queue: RETRY,
      });
    },
  });
  const validation = {
    get isSynced() {
      return informed.isSynced;
    },
    overlapping,
    overlappingHpas: (prepared: PreparedScaledObject) => findOverlappingHpas(hpas, prepared),
    workload: (target: PreparedScaledObject['target']['ref']) => workloads.find(target),
    limitedByDefault: cachedLimits(limitedByDefault(environment.reader), clock),
    ...{ types, series: webhook },
  };
  const subsystem: ScaledObjectsSubsystem = {
    name: 'scaledobjects',
    groups: [],
    healthChecks: [
      collecting.healthCheck,
      {
        name: 'scaledobjects-informer-sync',
        endpoints: ['readyz'],
        check: () =>
          subsystem.isWaiting || subsystem.isSynced ? undefined : 'the objects are not listed yet',
      },
      {
        name: 'scaledobjects-triggers',
        endpoints: ['readyz'],
        check: () =>
          subsystem.isWaiting || subsystem.isWarm ? undefined : 'some triggers are not polled yet',
      },
    ],
    start: () => collecting.start(),
    async lead(leading) {
      await raceAbort(ready.promise, leading);
      const { workQueues: series, workers = 1 } = environment;
      await kedaDetector.runWhileSoleOperator(leading, async (signal) => {
        await using objectController = subsystem.controller();
        await using jobs = subsystem.jobController();
        const options = { clock, logger, signal, series, workers, queue: RETRY };
        await Promise.all(
          [objectController, jobs, ...subsystem.authenticationControllers()].map((controller) =>
            runController(controller, options),
          ),
        );
      });
    },
    async cacheObjects(signal) {
      await informed.start(signal);
      const kind = { ...HPAS.resource, versions: HPA_VERSIONS };
      const locate = (signal: AbortSignal) => waitUntilServed(kind, { mapper, clock, logger, signal });
      await locate(signal);
      hpaClient = new HpaClient(
        new ResourceClient({ api: client, resource: locate, read: readPlainHpa<ManagedHpa> }),
      );
    },
    get isWaiting() {
      return informed.isWaiting || hpaClient === undefined;
    },
    get isSynced() {
      return informed.isSynced;
    },
    get isWarm() {
      return collection.isWarm;
    },
    endpoints: new Map([
      ['/debug/scaled-objects', debugScaledObjects({ ...reportOptions, states, clock, kedaDetector })],
    ]),
    admission: new Admission(validation),
    ui: [
      scaledObjectsUi({ ...reportOptions, states, clock, kedaDetector }, () => hpaClient !== undefined, {
        ...{ types, validation },
      }),
    ],
    runWhileSoleOperator: (signal, act) => kedaDetector.runWhileSoleOperator(signal, act),
    collectors: () => plans.controller(),
    controller() {
      if (!hpaClient) throw new Error('Cannot reconcile ScaledObjects: HPAs are not served yet');
      const scaledObjects = new ResourceClient({
        ...{ api: client, resource: SCALED_OBJECTS, read: readScaledObject },
      });
      const controller = scaledObjectController({
        ...environment,
        ...{ workloads, plans, collection, hpaClient, states, kedaDetector },
        objects: {
          find: (key) => objects.find(key),
          overlapping,
          onChange: (listener, replay) => objects.onChange(listener, replay),
          synced: (signal) => objects.synced(signal),
        },
        hpas: {
          find: (key) => hpas.find(key),
          overlapping: (prepared) => findOverlappingHpas(hpas, prepared),
        },
        related: [targets, mapKeys(hpas, findOwners)],
        client: scaledObjects,
        statuses: createStatusWrites(scaledObjects, objects, clock),
        limitedByDefault: limitedByDefault(client),
      });
      return {
        ...controller,
        async [Symbol.asyncDispose]() {
          states.clear();
        },
      };
    },
    authenticationControllers() {
      return AUTHENTICATION_KINDS.map((kind, index) => {
        const isNamespaced = index === 0;
        const resource = isNamespaced ? TRIGGER_AUTHENTICATIONS : CLUSTER_TRIGGER_AUTHENTICATIONS;
        const own = new ResourceClient({
          ...{ api: client, resource, read: readTriggerAuthentication },
        });
        const ofKind = isNamespaced ? authentications : clusterAuthentications;
        return triggerAuthenticationController({
          ...environment,
          ...{ kind, objects, scaledJobs, client: own, statuses: createStatusWrites(own, ofKind, clock) },
          authentications: ofKind,
        });
      });
    },
    jobController() {
      const jobCollection = newCollection();
      const polled = new KeyEmitter();
      const pushes = new PushScalerStreams({ clock, collection: jobCollection });
      const prepared = new PreparedObjects({
        ...{ kind: 'ScaledJob', compile: compileScaledJob, collection: jobCollection },
        ...{ types, share, reader, clock },
        readWorkload: async ({ object }) => ({ spec: object.spec.jobTargetRef }),
        authenticationsOf: (object) => informed.authenticationsOf(object),
      });
      const jobStates = new ScaledJobStates({
        clock,
        findTriggers: (key) => prepared.findTriggers(key),
        onEvaluate: (key) => polled.notify(key),
      });
      const term = { collection: jobCollection, prepared, states: jobStates };
      jobTerm = term;
      const jobs = new ResourceClient({
        ...{ api: client, resource: SCALED_JOBS, read: readScaledJob },
      });
      const controller = scaledJobController({
        ...environment,
        ...{ prepared, collection: jobCollection, client: jobs, polled, pushes, kedaDetector },
        states: term.states,
        related: informed.authenticationsOfJobs,
        objects: scaledJobs,
        statuses: createStatusWrites(jobs, scaledJobs, clock),
        jobs: new JobClient({ api: client, reader: environment.reader, version: environment.version }),
      });
      return {
        ...controller,
        async [Symbol.asyncDispose]() {
          if (jobTerm === term) jobTerm = undefined;
          pushes[Symbol.dispose]();
          jobStates[Symbol.dispose]();
          await jobCollection[Symbol.asyncDispose]();
        },
      };
    },
    async [Symbol.asyncDispose]() {
      await collecting[Symbol.asyncDispose]();
      plans[Symbol.dispose]();
      await collection[Symbol.asyncDispose]();
    },
  };
  return subsystem;
}

interface OpenScaledObjectsEnvironment
  extends Omit<ScaledObjectsEnvironment, 'types' | 'share' | 'version' | 'workers'>,
    ScaledObjectsFlags {
  readonly version: VersionInfo;
  readonly userAgent: string;
  readonly findAddresses: FindAddresses | undefined;
}

/**
 * Opens the sources of triggers, the subsystem, and the webhook if flags enable it.
 *
 * @param stack owns the sources and the webhook server
 * @throws when the webhook cannot listen at its address or read its certificate
 */
export async function openScaledObjects(
  environment: OpenScaledObjectsEnvironment,
  stack: AsyncDisposableStack,
): Promise<ScaledObjectsSubsystem> {
  const { clock, userAgent, allowedHosts, registry, version, findAddresses } = environment;
  const sources = stack.use(
    openTriggerEnvironment({
      ...{ clock, userAgent, allowedHosts, findAddresses, timeoutMs: environment.httpTimeoutMs },
      awsIdentityHosts: environment.awsIdentityHosts,
      sharedServiceNamespaces: environment.sharedServiceNamespaces,
      ...{ listPods: listPods(environment.reader), listEndpoints: listEndpoints(environment.reader) },
    }),
  );
  registry.add(buildSeries(version));
  registry.add(sources.durations.series);
  await using opening = new AsyncDisposableStack();
  const scaledObjects = opening.use(
    scaledObjectsSubsystem({
      ...{ ...environment, version: version.gitVersion },
      types: new TriggerTypes(allTriggers(sources)),
      share: sources.share,
    }),
  );
  if (environment.webhook) await serveWebhook(environment.webhook, scaledObjects, { ...environment, stack });
  opening.move(); // the caller owns it from here
  return scaledObjects;
}

interface WebhookEnvironment extends Pick<ScaledObjectsEnvironment, 'clock' | 'logger'> {
  readonly stack: AsyncDisposableStack;
}

async function serveWebhook(
  { address, certDir }: WebhookOptions,
  { admission }: ScaledObjectsSubsystem,
  { clock, logger, stack }: WebhookEnvironment,
): Promise<void> {
  const files = { certFile: join(certDir, 'tls.crt'), keyFile: join(certDir, 'tls.key') };
  const certificates = stack.use(
    await openServingCertificates({ ...files, certDir, namedCertificates: [], clock, logger }),
  );
  const { port } = stack.use(
    await startWebhookServer({ ...address, certificates, admission, clock, logger }),
  );
  logger.info('Serving the webhook of ScaledObjects', { port });
}
