import type { EventRecorder } from '#lib/control/event-recorder.ts';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import type { KubernetesObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import { API_VERSION } from './resources.ts';

/** Records events of one object. */
export interface ObjectEvents {
  normal(reason: string, message: string): void;
  warning(reason: string, message: string): void;
}

export function eventsOf(
  { metadata }: KubernetesObject,
  kind: string,
  events: Pick<EventRecorder, 'record'>,
): ObjectEvents {
  const { namespace, name, uid } = metadata;
  const regarding = { apiVersion: API_VERSION, kind, namespace, name, uid };
  const record = (type: 'Normal' | 'Warning') => (reason: string, message: string) =>
    events.record({ regarding, type, reason, action: 'Scale', message });
  return { normal: record('Normal'), warning: record('Warning') };
}

const GONE = [404, 409];

/** Records a warning event for a failed status write, unless the object was deleted or changed meanwhile. */
export function recordUnwritten(
  reason: string,
  error: unknown,
  { own, signal }: { readonly own: ObjectEvents; readonly signal: AbortSignal },
): void {
  if (signal.aborted || (error instanceof ApiError && GONE.includes(error.statusCode))) return;
  own.warning(reason, describeError(error));
}
