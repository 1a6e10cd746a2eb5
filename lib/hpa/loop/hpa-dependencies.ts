import type { EventRecorder } from '#lib/control/event-recorder.ts';
import type { Informer } from '#lib/kubernetes/informer/informer.ts';
import type { FollowedHpa } from '#lib/kubernetes/objects/hpa-versions.ts';
import type { LabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { AutoMinOptions, AutoMinReplicas } from '../auto-min/auto-min-replicas.ts';
import type { FollowedPod } from '../inputs/pod-lister.ts';
import type { HpaMemories } from '../memory/hpa-memories.ts';
import type { HpaConfig } from '../objects/hpa-config.ts';
import type { FollowedScales } from '../targets/followed-scales.ts';
import type { DecisionLog } from '../told/decision-log.ts';
import type { HpaSeries } from './hpa-series.ts';
import type { OtherControllers } from './other-controllers.ts';
import type { ReadWorld } from './read-world.ts';
import type { StatusClient } from './status-client.ts';

/** What flags say about deciding. */
export interface HpaLoopOptions {
  readonly syncPeriodMs: number;
  /** So many are acted on at once; more may wait until their metrics are read. */
  readonly concurrentSyncs: number;
  readonly config: HpaConfig;
  /** Which HPAs are taken care of. */
  readonly selector: LabelSelector;
  /** Decides and tells, and writes nothing. */
  readonly isDryRun: boolean;
  /** How minReplicas follow the week. */
  readonly autoMin: AutoMinOptions;
}

/** What the controller works with. */
export interface HpaDependencies {
  readonly hpas: Pick<Informer<FollowedHpa>, 'find' | 'onChange' | 'synced'>;
  readonly pods: Pick<Informer<FollowedPod>, 'synced'>;
  readonly readWorld: ReadWorld;
  readonly scales: Pick<FollowedScales, 'set'>;
  readonly statuses: StatusClient;
  readonly memories: HpaMemories;
  readonly autoMin: Pick<AutoMinReplicas, 'observe' | 'forget'>;
  readonly others: OtherControllers;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly decisions: DecisionLog;
  readonly series: HpaSeries;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly options: HpaLoopOptions;
}
