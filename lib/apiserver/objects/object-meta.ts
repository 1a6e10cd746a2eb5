import { goJsonText } from '#lib/apiserver/encoding/go-json.ts';
import type { JsonObject } from '#lib/apiserver/encoding/json-value.ts';
import { ProtobufWriter } from '#lib/apiserver/encoding/protobuf-writer.ts';
import { formatTime, writeTime } from './meta-time.ts';

/** The part of `metav1.ObjectMeta` that served objects have. */
export interface ObjectMeta {
  readonly name: string;
  /** `undefined` where the resource has no namespaces. */
  readonly namespace: string | undefined;
  readonly resourceVersion?: string | undefined;
  /** Milliseconds since the epoch; published as whole seconds. */
  readonly creationTimestampMs: number;
  /** Never changed: what is encoded of it is kept with it, for the objects that share it. */
  readonly labels: Readonly<Record<string, string>>;
}

/**
 * The JSON of an object's `metadata`: fields in Kubernetes' order, labels by key, what is empty left out. Keys that are
 * whole numbers come first and by their value, as in every object of JavaScript.
 */
export function objectMetaJson(meta: ObjectMeta): JsonObject {
  const { name, namespace, resourceVersion, creationTimestampMs, labels } = meta;
  return {
    name,
    ...(namespace && { namespace }),
    ...(resourceVersion && { resourceVersion }),
    creationTimestamp: formatTime(creationTimestampMs),
    ...(!isEmpty(labels) && { labels: labelsJson(labels) }),
  };
}

/** The same as text on one line, labels by key in every case: objects are encoded by the ten thousand after every scrape. */
export function objectMetaText(meta: ObjectMeta): string {
  const { name, namespace, resourceVersion, creationTimestampMs } = meta;
  let text = `{"name":${goJsonText(name)}`;
  if (namespace) text += `,"namespace":${goJsonText(namespace)}`;
  if (resourceVersion) text += `,"resourceVersion":${goJsonText(resourceVersion)}`;
  return `${text},"creationTimestamp":"${formatTime(creationTimestampMs)}"${labelsText(meta.labels)}}`;
}

/** Writes the fields of an `ObjectMeta` message; Kubernetes writes the absent ones of these as empty, too. */
export function writeObjectMeta(message: ProtobufWriter, meta: ObjectMeta): void {
  message.string(1, meta.name);
  message.string(2, ''); // generateName
  message.string(3, meta.namespace ?? '');
  message.string(4, ''); // selfLink
  message.string(5, ''); // uid
  message.string(6, meta.resourceVersion ?? '');
  message.uint(7, 0); // generation
  message.message(8, () => writeTime(message, meta.creationTimestampMs));
  message.raw(labelsProtobuf(meta.labels));
}

function labelsJson(labels: ObjectMeta['labels']): JsonObject {
  let sorted = sortedLabels.get(labels);
  if (!sorted) {
    sorted = Object.fromEntries(sortedEntries(labels));
    sortedLabels.set(labels, sorted);
  }
  return sorted;
}

/** With the comma before it; empty where there are none. */
function labelsText(labels: ObjectMeta['labels']): string {
  let text = labelTexts.get(labels);
  if (text === undefined) {
    const members = sortedEntries(labels).map(([key, value]) => `${goJsonText(key)}:${goJsonText(value)}`);
    text = members.length === 0 ? '' : `,"labels":{${members.join()}}`;
    labelTexts.set(labels, text);
  }
  return text;
}

function labelsProtobuf(labels: ObjectMeta['labels']): Buffer {
  let bytes = labelBytes.get(labels);
  if (!bytes) {
    for (const [key, value] of sortedEntries(labels)) {
      labelsWriter.message(11, () => {
        labelsWriter.string(1, key);
        labelsWriter.string(2, value);
      });
    }
    bytes = labelsWriter.finish();
    labelBytes.set(labels, bytes);
  }
  return bytes;
}

/** One for all: the buffer of each would be kept with its bytes, which are fewer. */
const labelsWriter = new ProtobufWriter();

const sortedLabels = new WeakMap<ObjectMeta['labels'], JsonObject>();
const labelTexts = new WeakMap<ObjectMeta['labels'], string>();
const labelBytes = new WeakMap<ObjectMeta['labels'], Buffer>();

function isEmpty(labels: ObjectMeta['labels']): boolean {
  for (const _key in labels) return false;
  return true;
}

function sortedEntries(labels: ObjectMeta['labels']): [string, string][] {
  return Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
}
