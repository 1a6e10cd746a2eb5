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
import { WorkQueueSeries } from '#lib/control/work-queue-metrics.ts';
import { NameResolver } from '#lib/dns/name-resolver.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { DryRun } from '#lib/kubernetes/client/dry-run.ts';
import { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import { SharedInformers } from '#lib/kubernetes/informer/shared-informers.ts';
import { addProcessSeries } from '#lib/telemetry/process-series.ts';
import { SlicedRegistry } from '#lib/telemetry/sliced-registry.ts';
import { openApiClients } from './api-clients.ts';
import type { AutoscalerOptions } from './options/autoscaler-options.ts';
import { type Runtime, SUBSYSTEMS } from './subsystems.ts';
import { autoscalerUi, debugControllers } from './ui/autoscaler-ui.ts';

/** What the autoscaler needs from outside. */
export interface AutoscalerEnvironment extends Omit<SubsystemServerEnvironment, 'registry' | 'userAgent'> {
  /** Tells this process from all others that may be elected. */
  readonly identity: string;
}

/** A running autoscaler; disposing it stops acting, gives the lease back, and drains the server. */
export interface Autoscaler extends AsyncDisposable {
  readonly address: { readonly address: string; readonly port: number };
  readonly isLeader: boolean;
}

/** How long a name of a source may take, and how many are looked up at once, shared fairly by namespaces. */
const LOOKUPS = { timeoutMs: 5000, maxConcurrent: 64 };

/**
 * Composes what the flags chose: subsystems of which every replica follows the cluster and serves, and the leader acts.
 *
 * @throws when a given file cannot be used or the address cannot be listened at
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
  if (dryRun) logger.info('Dry run: nothing is written, no lease is taken, and what would be done is logged');
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
    // Collecting and serving needs no lease; where there is none, or it cannot be read, every replica reports what it sees.
    isReporting: () => leading.length === 0 || isLeader() || election?.holder === undefined,
  };
  const subsystems: Subsystem[] = [];
  for (const { isChosen, open } of SUBSYSTEMS)
    if (isChosen(options)) subsystems.push(starting.use(await open(runtime, options, starting)));
  const leading = subsystems.filter(({ lead }) => lead !== undefined);
  if (options.controllers.size === 0 && options.metricsAdapter)
    logger.info('No controller runs, but metrics APIs are served: --controllers chooses none');
  else if (options.controllers.size === 0)
    logger.warning('No controller runs, and no metrics API is served: --controllers chooses none');
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

/** What the program tells of itself. */
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

/** Has the subsystems act whenever this process leads, until it is disposed of. */
function startLeading(
  subsystems: readonly Subsystem[],
  election: LeaderElection | undefined,
): AsyncDisposable {
  const ending = new AbortController();
  const lead = (signal: AbortSignal) => leadTogether(subsystems, signal);
  const running = election ? election.run(lead, ending.signal) : lead(ending.signal);
  return {
    async [Symbol.asyncDispose]() {
      ending.abort(new Error('the program ends'));
      await running;
    },
  };
}
