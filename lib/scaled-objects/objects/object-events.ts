import type { EventRecorder } from '#lib/control/event-recorder.ts';
import type { KubernetesObject } from '#lib/kubernetes/kubernetes-object.ts';
import { API_VERSION } from './resources.ts';

/** Tells events of one object. */
export interface ObjectEvents {
  normal(reason: string, message: string): void;
  warning(reason: string, message: string): void;
}

/** Events of an object of a kind. */
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
