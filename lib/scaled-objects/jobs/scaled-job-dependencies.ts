import type { Collection } from '#lib/collection/collection.ts';
import type { Watched } from '#lib/control/controller.ts';
import type { EventRecorder } from '#lib/control/event-recorder.ts';
import type { ScaleLog } from '#lib/control/scale-log.ts';
import type { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import type { Clock } from '#lib/time/clock.ts';
import type { SharedReader } from '../authentication/shared-reader.ts';
import type { ScaledJob, ScaledJobStatus } from '../objects/scaled-job.ts';
import type { OtherOperator } from '../other-operator/other-operator.ts';
import type { PushFollowers } from '../plan/push-followers.ts';
import type { WrittenStatuses } from '../statuses/written-statuses.ts';
import type { TriggerTypes } from '../triggers/trigger-types.ts';
import type { JobClient } from './job-client.ts';
import type { JobMemories } from './job-memory.ts';

/** What the controller of ScaledJobs works with. */
export interface ScaledJobDependencies {
  readonly objects: Watched & { find(key: string): ScaledJob | undefined };
  /** What has objects planned again: their authentications. */
  readonly others: readonly Watched[];
  readonly collection: Collection;
  readonly pushes: PushFollowers;
  readonly client: ResourceClient<ScaledJob>;
  readonly statuses: WrittenStatuses<ScaledJobStatus, ScaledJob>;
  readonly jobs: JobClient;
  readonly scaleLog: Pick<ScaleLog, 'jobsCreated'>;
  readonly types: TriggerTypes;
  readonly reader: SharedReader;
  readonly authenticationsOf: (object: ScaledJob) => readonly unknown[];
  readonly memories: JobMemories;
  /** Who says which objects are to be left alone. */
  readonly otherOperator: Pick<OtherOperator, 'leaves'>;
  /** Has objects looked at whose triggers have told something. */
  readonly asked: Watched;
  readonly events: Pick<EventRecorder, 'record'>;
  readonly clock: Clock;
}
