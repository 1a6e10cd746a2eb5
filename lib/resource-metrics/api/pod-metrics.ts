import { goJsonText } from '#lib/apiserver/encoding/go-json.ts';
import type { JsonObject } from '#lib/apiserver/encoding/json-value.ts';
import type { ProtobufWriter } from '#lib/apiserver/encoding/protobuf-writer.ts';
import type { ServedObject } from '#lib/apiserver/objects/served-object.ts';
import type { LivePod } from '#lib/resource-metrics/pods/live-pods.ts';
import type { PodUsage } from '#lib/resource-metrics/sink/snapshot.ts';
import type { MetricsOrigin } from './metrics-origin.ts';
import { spanFields, spanText, usageFields, usageText, writeSpan, writeUsage } from './usage-fields.ts';

/** The PodMetrics of a usage and the pod as it is. */
export class PodMetrics implements ServedObject {
  readonly usage: PodUsage;
  readonly live: LivePod;
  readonly origin: MetricsOrigin;

  constructor(usage: PodUsage, live: LivePod, origin: MetricsOrigin) {
    this.usage = usage;
    this.live = live;
    this.origin = origin;
  }

  get name(): string {
    return this.usage.name;
  }

  get namespace(): string {
    return this.usage.namespace;
  }

  /** When the usage was published. */
  get creationTimestampMs(): number {
    return this.origin.creationTimestampMs;
  }

  get resourceVersion(): string | undefined {
    return this.origin.resourceVersion;
  }

  get labels(): Readonly<Record<string, string>> {
    return this.live.labels;
  }

  fields(): JsonObject {
    const containers = this.usage.containers.map((container) => ({
      name: container.name,
      usage: usageFields(container),
    }));
    return { ...spanFields(this.usage), containers };
  }

  fieldsText(): string {
    const { usage } = this;
    let text = '';
    for (const container of usage.containers) {
      text += `${text && ','}{"name":${goJsonText(container.name)},"usage":${usageText(container)}}`;
    }
    return `${spanText(usage)},"containers":[${text}]`;
  }

  writeFields(message: ProtobufWriter): void {
    writeSpan(message, this.usage);
    for (const container of this.usage.containers) {
      message.message(4, () => {
        message.string(1, container.name);
        writeUsage(message, { field: 2, usage: container });
      });
    }
  }
}
