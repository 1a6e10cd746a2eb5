import { join } from 'node:path';
import type { VersionInfo } from '#lib/apiserver/discovery/version-info.ts';
import { openServingCertificates } from '#lib/apiserver/serving/serving-certificates.ts';
import { runController } from '#lib/control/controller.ts';
import type { Subsystem } from '#lib/control/subsystem.ts';
import type { WorkQueueSeries } from '#lib/control/work-queue-metrics.ts';
import type { ListenAddress } from '#lib/flags/listen-address.ts';
import { buildSeries } from '#lib/scaled-objects/observability/keda-series.ts';
import type { ScaledObjectsUiPart } from '#lib/scaled-objects/observability/scaled-objects-ui.ts';
import type { ScaledObjectsOptions } from '#lib/scaled-objects/scaled-objects-options.ts';
import {
  type ScaledObjectsEnvironment,
  type ScaledObjectsSubsystem,
  scaledObjectsSubsystem,
} from '#lib/scaled-objects/scaled-objects-subsystem.ts';
import { listEndpoints, listPods } from '#lib/scaled-objects/triggers/cluster-lookups.ts';
import { allTriggers, TriggerTypes } from '#lib/scaled-objects/triggers/trigger-registry.ts';
import { openTriggerSources } from '#lib/scaled-objects/triggers/trigger-sources.ts';
import { startWebhookServer } from '#lib/scaled-objects/webhook/webhook-server.ts';
import type { FindAddresses } from '#lib/sources/network/allowed-hosts.ts';
import { raceAbort } from '#lib/time/abort-signal.ts';

/** What flags say of ScaledObjects. */
export interface ScaledObjectsPartOptions {
  readonly workers: number;
  readonly options: ScaledObjectsOptions;
  /** Which hosts triggers may have asked. */
  readonly allowedHosts: readonly string[];
  /** By default of one HTTP request of a trigger. */
  readonly httpTimeoutMs: number;
  /** Which hosts, beside those of SQS, see the AWS identity of this program. */
  readonly awsIdentityHosts: readonly string[];
  /** Where reviews are taken, and with which certificate; `undefined` where they are not. */
  readonly webhook: WebhookOptions | undefined;
}

/** Where objects are judged before the API server keeps them. */
export interface WebhookOptions {
  readonly address: ListenAddress;
  /** With `tls.crt` and `tls.key`. */
  readonly certDir: string;
}

/** What ScaledObjects need as a part of the autoscaler. */
export interface ScaledObjectsPartEnvironment
  extends Omit<ScaledObjectsEnvironment, 'types' | 'share' | 'version'>,
    ScaledObjectsPartOptions {
  readonly version: VersionInfo;
  readonly userAgent: string;
  readonly findAddresses: FindAddresses | undefined;
  readonly workQueues: WorkQueueSeries;
}

/** Failures of the API server itself are tried again at the latest after this long. */
const RETRY = { maxDelayMs: 60_000 };
const COLLECTOR_WORKERS = 8;

/**
 * ScaledObjects as a part of the autoscaler: it waits for their definitions and for permission; every replica asks, the leader acts.
 *
 * @throws when the webhook cannot be served where it is to be
 */
export async function scaledObjectsPart(
  environment: ScaledObjectsPartEnvironment,
): Promise<Subsystem<ScaledObjectsUiPart>> {
  await using starting = new AsyncDisposableStack();
  const { clock, logger, workers, workQueues: series, userAgent, allowedHosts } = environment;
  const { registry, version, findAddresses } = environment;
  const sources = starting.use(
    openTriggerSources({
      ...{ clock, userAgent, allowedHosts, findAddresses, timeoutMs: environment.httpTimeoutMs },
      awsIdentityHosts: environment.awsIdentityHosts,
      ...{ listPods: listPods(environment.reader), listEndpoints: listEndpoints(environment.reader) },
    }),
  );
  registry.add(buildSeries(version));
  registry.add(sources.durations.series);
  const scaledObjects = starting.use(
    scaledObjectsSubsystem({
      ...{ ...environment, version: version.gitVersion },
      types: new TriggerTypes(allTriggers(sources)),
      share: sources.share,
    }),
  );
  if (environment.webhook) await serveWebhook(environment.webhook, { scaledObjects, environment, starting });
  const started = starting.move();
  const disposal = new AbortController();
  const { signal } = disposal;
  const following = Promise.withResolvers<void>();
  let followed: Promise<void> = Promise.resolve();

  async function follow(): Promise<void> {
    await scaledObjects.start(signal);
    following.resolve();
    await runController(scaledObjects.collectors(), {
      clock,
      logger,
      signal,
      series,
      workers: COLLECTOR_WORKERS,
      queue: RETRY,
    });
  }

  return {
    name: 'scaledobjects',
    groups: [],
    healthChecks: [
      {
        name: 'scaledobjects-informer-sync',
        endpoints: ['readyz'],
        check: () =>
          scaledObjects.isWaiting || scaledObjects.isSynced
            ? undefined
            : 'its objects have not been listed yet',
      },
      {
        name: 'scaledobjects-triggers',
        endpoints: ['readyz'],
        check: () =>
          scaledObjects.isWaiting || scaledObjects.isWarm
            ? undefined
            : 'some triggers have not been asked yet',
      },
    ],
    endpoints: scaledObjects.endpoints,
    ui: scaledObjects.ui,
    start() {
      followed = follow().catch((error: unknown) => {
        if (!signal.aborted) logger.error('Cannot follow ScaledObjects', error);
      });
    },
    async lead(leading) {
      await raceAbort(following.promise, leading).catch(() => {});
      if (leading.aborted) return;
      await scaledObjects.whileAlone(leading, async (acting) => {
        await using objects = scaledObjects.controller();
        await using jobs = scaledObjects.jobController();
        const run = { clock, logger, signal: acting, series, workers, queue: RETRY };
        await Promise.all(
          [objects, jobs, ...scaledObjects.authenticationControllers()].map((controller) =>
            runController(controller, run),
          ),
        );
      });
    },
    async [Symbol.asyncDispose]() {
      disposal.abort(new Error('the program ends'));
      await followed;
      await started.disposeAsync();
    },
  };
}

async function serveWebhook(
  { address, certDir }: WebhookOptions,
  {
    scaledObjects,
    environment: { clock, logger },
    starting,
  }: {
    readonly scaledObjects: ScaledObjectsSubsystem;
    readonly environment: ScaledObjectsPartEnvironment;
    readonly starting: AsyncDisposableStack;
  },
): Promise<void> {
  const files = { certFile: join(certDir, 'tls.crt'), keyFile: join(certDir, 'tls.key') };
  const certificates = starting.use(
    await openServingCertificates({ ...files, certDir, namedCertificates: [], clock, logger }),
  );
  const { admission } = scaledObjects;
  const { port } = starting.use(
    await startWebhookServer({ ...address, certificates, admission, clock, logger }),
  );
  logger.info('Serving the webhook of ScaledObjects', { port });
}
