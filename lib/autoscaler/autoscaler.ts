import type { Endpoint } from '#lib/apiserver/http/api-context.ts';
import {
  type ServedSubsystem,
  type SubsystemServerEnvironment,
  serveSubsystems,
} from '#lib/apiserver/subsystems.ts';
import { MetricStore } from '#lib/collection/metric-store.ts';
import { PollLimits } from '#lib/collection/poll-limits.ts';
import { EventRecorder } from '#lib/control/event-recorder.ts';
import { addLeaderElectionSeries, LeaderElection } from '#lib/control/leader-election.ts';
import { ScaleClient } from '#lib/control/scale-client.ts';
import { ScaleLog } from '#lib/control/scale-log.ts';
import { leadTogether, type Subsystem } from '#lib/control/subsystem.ts';
import { TargetPins } from '#lib/control/target-pins.ts';
import { WorkQueueSeries } from '#lib/control/work-queue-series.ts';
import { NameResolver } from '#lib/dns/name-resolver.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { DryRun } from '#lib/kubernetes/client/dry-run.ts';
import { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import { SharedInformers } from '#lib/kubernetes/informer/shared-informers.ts';
import { addProcessSeries } from '#lib/telemetry/process-series.ts';
import { SlicedRegistry } from '#lib/telemetry/sliced-registry.ts';
import { openApiClients } from './api-clients.ts';
import { autoscalerUi, debugControllers } from './autoscaler-ui.ts';
import type { AutoscalerOptions } from './options/autoscaler-options.ts';
import { type Runtime, SUBSYSTEMS } from './subsystems.ts';

interface AutoscalerEnvironment extends Omit<SubsystemServerEnvironment, 'registry' | 'userAgent'> {
  /** Unique identity in leader election. */
  readonly identity: string;
}

/** A running autoscaler; disposing it stops the controllers, releases the lease, and drains the server. */
export interface Autoscaler extends AsyncDisposable {
  readonly address: { readonly address: string; readonly port: number };
  readonly isLeader: boolean;
}

/** Timeout and concurrency of DNS lookups, shared fairly by namespaces, and how many of one may start. */
const LOOKUPS = { timeoutMs: 5000, maxConcurrent: 64, tenantRate: { perSecond: 25, burst: 50 } };

/**
 * Composes the subsystems that flags choose: each replica watches and serves, and the leader runs the controllers.
 *
 * @throws when a file is invalid or the address cannot be bound
 */
export async function startAutoscaler(
  options: AutoscalerOptions,
  environment: AutoscalerEnvironment,
): Promise<Autoscaler> {
  const { access, clock, logger, version, identity } = environment;
  await using starting = new AsyncDisposableStack();
  const registry = new SlicedRegistry();
  addProcessSeries(registry);
  const userAgent = `autoscaler/${version.gitVersion}`;
  const dryRun = options.isDryRun ? new DryRun({ clock, logger }) : undefined;
  const clients = starting.use(
    openApiClients({
      ...{ access, clock, userAgent, dryRun, rate: options.apiRate },
      beforeWrite: () => election?.assertLeader(),
    }),
  );
  const election = electionOf(options, { ...environment, api: clients.lease });
  const { leaderElection } = options;
  if (election && leaderElection) {
    addLeaderElectionSeries({ registry, name: leaderElection.lease.name, election });
  }
  if (dryRun) logger.info('Dry run: logging changes, writing nothing and acquiring no lease');
  const client = clients.controllers;
  const mapper = new RestMapper({ api: client, clock });
  const informers = starting.use(new SharedInformers({ client, mapper, clock, logger }));
  const recorder = starting.use(
    new EventRecorder({
      api: clients.events,
      mapper,
      clock,
      logger,
      source: { controller: 'autoscaler', instance: identity },
    }),
  );
  const events = dryRun ? { record: () => {} } : recorder;
  const scaleLog = new ScaleLog({ logger, dryRun });
  const scales = new ScaleClient({ api: client, mapper, clock, scaleLog });
  const workQueues = new WorkQueueSeries({ clock, registry });
  const { findAddresses } = NameResolver.ofSystem({ clock, ...LOOKUPS });
  const isLeader = () => election?.isLeader ?? true;
  const runtime: Runtime = {
    ...{ client, mapper, informers, scales, scaleLog, events, registry, clock, logger, workQueues },
    ...{ findAddresses, userAgent, version },
    reader: clients.references,
    store: new MetricStore(),
    pollLimits: new PollLimits(clock),
    pins: new TargetPins(),
    // Collecting and serving needs no lease; without a readable one, every replica reports.
    isReporting: () => leading.length === 0 || isLeader() || election?.holder === undefined,
  };
  const subsystems: Subsystem[] = [];
  for (const { isChosen, open } of SUBSYSTEMS)
    if (isChosen(options)) subsystems.push(starting.use(await open(runtime, options, starting)));
  const leading = subsystems.filter(({ lead }) => lead !== undefined);
  if (options.controllers.size === 0 && options.metricsAdapter)
    logger.info('Serving metrics APIs without controllers: --controllers enables none');
  else if (options.controllers.size === 0)
    logger.warning('Nothing to do: --controllers enables no controller, and no metrics API is served');
  const startedAt = new Date(clock.nowMs()).toISOString();
  const state = () => ({
    identity,
    isLeader: isLeader(),
    leader: election ? election.holder : identity,
    leaderSince: election ? election.heldSince : startedAt,
    startedAt,
    controllers: [...options.controllers],
  });
  const debug = debugControllers(state);
  const ui = autoscalerUi({
    parts: subsystems.flatMap(({ ui = [] }) => ui),
    ...{ state, version: version.gitVersion, clock },
    hasPrometheusServer: options.hpa.prometheus !== undefined,
    // Its requests wait for no controller's, and those of users share the rate fairly with those of namespaces.
    scales: new ScaleClient({ api: clients.references, mapper, clock }),
  });
  const server = starting.use(
    await serveSubsystems([...subsystems, debugging(debug), ui], options, {
      ...environment,
      registry,
      userAgent,
    }),
  );
  if (leading.length > 0) starting.use(startLeading(leading, election));
  const started = starting.move();
  return {
    address: server.address,
    get isLeader() {
      return isLeader();
    },
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  };
}

/** The debug endpoints of the program. */
function debugging(controllers: Endpoint): ServedSubsystem {
  return {
    groups: [],
    healthChecks: [],
    endpoints: new Map([['/debug/controllers', controllers]]),
    start: () => {},
    [Symbol.asyncDispose]: async () => {},
  };
}

function electionOf(
  { leaderElection }: AutoscalerOptions,
  environment: AutoscalerEnvironment & { readonly api: ApiClient },
): LeaderElection | undefined {
  return leaderElection && new LeaderElection({ ...environment, ...leaderElection });
}

/** Runs the controllers whenever this process leads, until disposed. */
function startLeading(
  subsystems: readonly Subsystem[],
  election: LeaderElection | undefined,
): AsyncDisposable {
  const ending = new AbortController();
  const lead = (signal: AbortSignal) => leadTogether(subsystems, signal);
  const running = election ? election.run(lead, ending.signal) : lead(ending.signal);
  return {
    async [Symbol.asyncDispose]() {
      ending.abort(new Error('the program is shutting down'));
      await running;
    },
  };
}
