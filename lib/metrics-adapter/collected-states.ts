import type { Collection } from '#lib/collection/collection.ts';
import { describeError } from '#lib/telemetry/logger.ts';
import { nameOfMetric } from './objects/scaled-hpa.ts';
import type { HpaCollectors } from './plans/hpa-collectors.ts';

/** How the collecting of one metric of an HPA goes. */
export interface CollectedState {
  /** `namespace/name` */
  readonly hpa: string;
  /** As messages name it. */
  readonly metric: string | undefined;
  readonly collector: string | undefined;
  /** What is asked of which source. */
  readonly query: string;
  readonly intervalMs: number;
  /** As its source told it, undivided. */
  readonly value: number | undefined;
  readonly samples: number | undefined;
  readonly notes: readonly string[];
  readonly receivedAtMs: number | undefined;
  /** Whether the value still counts. */
  readonly isServed: boolean;
  readonly nextInMs: number;
  readonly error: string | undefined;
  readonly failingSinceMs: number | undefined;
}

const NO_REPLICAS =
  'It is served divided by the replicas of the target, of which the status of the HPA says that there are none';

/** What is collected for HPAs, and how that goes; each is worked out as it is asked for. */
export function* collectedStates(
  { known }: Pick<HpaCollectors, 'known'>,
  collection: Pick<Collection, 'reports'>,
): IterableIterator<CollectedState> {
  for (const { owner, name, collector, reading, isValid, failure, nextInMs } of collection.reports()) {
    const { hpa, metrics } = known.get(owner) ?? {};
    const metric = metrics?.find(({ key }) => key === name);
    const isUndivided = metric?.perReplica === true && !hpa?.replicas;
    yield {
      hpa: owner,
      metric: metric && nameOfMetric(metric.metric),
      collector: metric?.collector,
      query: collector.query.description,
      intervalMs: collector.intervalMs,
      value: reading?.samples[0]?.value,
      samples: reading?.samples.length,
      notes: [...(metric?.notes ?? []), ...(reading?.notes ?? []), ...(isUndivided ? [NO_REPLICAS] : [])],
      receivedAtMs: reading?.receivedAtMs,
      isServed: isValid && !isUndivided,
      nextInMs,
      error: failure && describeError(failure.error),
      failingSinceMs: failure?.sinceMs,
    };
  }
}
