import type { ObjectReference } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { formatTime } from './conditions.ts';
import { formatMicroTime } from './lease.ts';

/** What has happened to an object, for people who look at it. */
export interface EventFacts {
  readonly regarding: ObjectReference;
  readonly type: 'Normal' | 'Warning';
  /** In CamelCase, as in `Scaled`. */
  readonly reason: string;
  /** What was done or tried, in CamelCase, as in `Scale`. */
  readonly action: string;
  /** For people; the first 1,024 bytes of it are told. */
  readonly message: string;
}

/** Who tells of events. */
export interface EventSource {
  /** As in `autoscaler`. */
  readonly controller: string;
  /** Of this process alone. */
  readonly instance: string;
}

/** An event that was seen once or more often. */
export interface SeenEvent extends EventFacts {
  readonly name: string;
  readonly count: number;
  readonly firstSeenAtMs: number;
  readonly lastSeenAtMs: number;
}

/** The API server takes no longer texts. */
const MAX_MESSAGE_BYTES = 1024;
const MAX_WORD_LENGTH = 128;

/** Where an event is kept: with its object, those of cluster-wide objects in `default`. */
export function eventNamespace({ regarding }: EventFacts): string {
  return regarding.namespace || 'default';
}

/** A message as far as the API server takes one. */
export function eventMessage(text: string): string {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= MAX_MESSAGE_BYTES) return text;
  // A character that was cut in two decodes as a mark of that, which goes.
  const cut = bytes.subarray(0, MAX_MESSAGE_BYTES - 3).toString('utf8');
  return `${cut.replace(/\ufffd$/, '')}…`;
}

/** An event as the group `events.k8s.io`, or where that is not served the core group, takes it. */
export function eventObject(event: SeenEvent, source: EventSource, group: string) {
  const { name, type } = event;
  const common = {
    metadata: { name, namespace: eventNamespace(event) },
    type,
    reason: event.reason.slice(0, MAX_WORD_LENGTH),
    action: event.action.slice(0, MAX_WORD_LENGTH),
    reportingInstance: source.instance.slice(0, MAX_WORD_LENGTH),
  };
  const object = referenceTo(event.regarding);
  if (group === '') {
    return {
      ...common,
      ...seriesOf(event, group),
      involvedObject: object,
      message: event.message,
      source: { component: source.controller },
      reportingComponent: source.controller,
      firstTimestamp: formatTime(event.firstSeenAtMs),
    };
  }
  return {
    ...common,
    ...(event.count > 1 ? seriesOf(event, group) : {}),
    regarding: object,
    note: event.message,
    reportingController: source.controller,
    eventTime: formatMicroTime(event.firstSeenAtMs),
  };
}

/** What changes of an event that was seen again. */
export function seriesOf({ count, lastSeenAtMs }: SeenEvent, group: string): object {
  if (group === '') return { count, lastTimestamp: formatTime(lastSeenAtMs) };
  return { series: { count, lastObservedTime: formatMicroTime(lastSeenAtMs) } };
}

function referenceTo({ apiVersion, kind, namespace, name, uid, resourceVersion }: ObjectReference): object {
  return {
    apiVersion,
    kind,
    name,
    ...(namespace && { namespace }),
    ...(uid && { uid }),
    ...(resourceVersion && { resourceVersion }),
  };
}
