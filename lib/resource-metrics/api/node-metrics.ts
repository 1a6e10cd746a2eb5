import type { JsonObject } from '#lib/apiserver/encoding/json-value.ts';
import type { ProtobufWriter } from '#lib/apiserver/encoding/protobuf-writer.ts';
import type { ServedObject } from '#lib/apiserver/objects/served-object.ts';
import type { LiveNode } from '#lib/resource-metrics/nodes/live-nodes.ts';
import type { NodeUsage } from '#lib/resource-metrics/sink/snapshot.ts';
import type { MetricsOrigin } from './metrics-origin.ts';
import { spanFields, spanText, usageFields, usageText, writeSpan, writeUsage } from './usage-fields.ts';

/** The NodeMetrics of a usage and the node as it is. */
export class NodeMetrics implements ServedObject {
  readonly usage: NodeUsage;
  readonly live: LiveNode;
  readonly origin: MetricsOrigin;

  constructor(usage: NodeUsage, live: LiveNode, origin: MetricsOrigin) {
    this.usage = usage;
    this.live = live;
    this.origin = origin;
  }

  get name(): string {
    return this.usage.name;
  }

  get namespace(): undefined {
    return undefined;
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
    return { ...spanFields(this.usage), usage: usageFields(this.usage) };
  }

  fieldsText(): string {
    return `${spanText(this.usage)},"usage":${usageText(this.usage)}`;
  }

  writeFields(message: ProtobufWriter): void {
    writeSpan(message, this.usage);
    writeUsage(message, { field: 4, usage: this.usage });
  }
}
