import type { ServedSubsystem } from '#lib/apiserver/subsystems.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import type { RestMapper } from '#lib/kubernetes/client/rest-mapper.ts';
import type { SharedInformers } from '#lib/kubernetes/informer/shared-informers.ts';
import type { Logger } from '#lib/telemetry/logger.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { UiPart } from '#lib/ui/page.ts';
import type { EventRecorder } from './event-recorder.ts';
import type { ScaleClient } from './scale-client.ts';
import type { ScaleLog } from './scale-log.ts';

/**
 * A part of the autoscaler with its own purpose, such as the controller of one kind. While the program is composed, it
 * declares the objects that it needs of the shared informers and registers its series. Then every replica starts it and
 * serves its results, and the leader lets it act.
 */
export interface Subsystem extends ServedSubsystem {
  /** As in `--controllers`. */
  readonly name: string;
  /** Its views on the page of the program; none by default. */
  readonly ui?: readonly UiPart[];
  /**
   * Acts on the cluster, in the leader alone; absent where every replica does the same.
   *
   * @returns once the signal has aborted and nothing acts
   * @throws when it cannot act; also the reason of the signal, which is not a failure
   */
  lead?(signal: AbortSignal): Promise<void>;
}

/** Dependencies that all controllers share in a process; subsystems extend it. */
export interface ControllerEnvironment {
  readonly client: ApiClient;
  readonly mapper: RestMapper;
  readonly informers: SharedInformers;
  readonly scales: ScaleClient;
  readonly scaleLog: ScaleLog;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Runs subsystems until the signal aborts. If one fails before that, aborts the others and waits for them.
 *
 * @throws the error of the first that failed, once all have ended
 */
export async function leadTogether(
  subsystems: readonly Pick<Subsystem, 'lead'>[],
  signal: AbortSignal,
): Promise<void> {
  const failing = new AbortController();
  const all = AbortSignal.any([signal, failing.signal]);
  const lead = async (subsystem: Pick<Subsystem, 'lead'>) => {
    try {
      await subsystem.lead?.(all);
    } catch (error) {
      if (!all.aborted) failing.abort(error); // the first counts; later failures follow from it
    }
  };
  await Promise.all(subsystems.map(lead));
  failing.signal.throwIfAborted();
}
