import type { MessageType } from '#lib/apiserver/encoding/message-type.ts';
import type { ServedObject } from '#lib/apiserver/resources/served-object.ts';
import type { LiveNode } from '#lib/resource-metrics/nodes/node-cache.ts';
import type { LivePod } from '#lib/resource-metrics/nodes/pod-cache.ts';
import type { NodeUsage, PodUsage } from '#lib/resource-metrics/sink/snapshot.ts';
import { NODE_METRICS, POD_METRICS } from './metrics-types.ts';
import type { MetricsOrigin } from './snapshot-versions.ts';

/** The metrics of a usage and its live object. */
class MetricsObject<Usage extends { readonly name: string }, Live extends Pick<ServedObject, 'labels'>> {
  readonly usage: Usage;
  readonly live: Live;
  readonly origin: MetricsOrigin;

  constructor(usage: Usage, live: Live, origin: MetricsOrigin) {
    this.usage = usage;
    this.live = live;
    this.origin = origin;
  }

  get name(): string {
    return this.usage.name;
  }

  /** Time of publication. */
  get creationTimestampMs(): number {
    return this.origin.creationTimestampMs;
  }

  get resourceVersion(): string | undefined {
    return this.origin.resourceVersion;
  }

  get labels(): Readonly<Record<string, string>> {
    return this.live.labels;
  }

  get content(): Usage {
    return this.usage;
  }
}

export class NodeMetrics extends MetricsObject<NodeUsage, LiveNode> implements ServedObject {
  get namespace(): undefined {
    return undefined;
  }

  get contentType(): MessageType<NodeUsage> {
    return NODE_METRICS;
  }
}

export class PodMetrics extends MetricsObject<PodUsage, LivePod> implements ServedObject {
  get namespace(): string {
    return this.usage.namespace;
  }

  get contentType(): MessageType<PodUsage> {
    return POD_METRICS;
  }
}
