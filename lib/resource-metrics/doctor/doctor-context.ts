import * as z from 'zod';
import { ClusterContext, type ClusterContextOptions } from '#lib/doctor/cluster-context.ts';
import { type LiveNode, reduceNode } from '#lib/resource-metrics/nodes/node-cache.ts';
import type { DoctorOptions, MetricsServerOptions } from '#lib/resource-metrics/options.ts';
import type { KubeletProbe } from './kubelet-probe.ts';

interface DoctorContextOptions extends ClusterContextOptions {
  readonly options: MetricsServerOptions;
  readonly doctor: DoctorOptions;
  /** Scrapes the kubelets of nodes as the server does. */
  readonly probe: (nodes: readonly LiveNode[], signal: AbortSignal) => Promise<readonly KubeletProbe[]>;
}

/** Shared by checks. Nodes, pods and kubelets are queried once, by the first check that needs them. */
export class DoctorContext extends ClusterContext {
  readonly options: MetricsServerOptions;
  readonly doctor: DoctorOptions;
  readonly #probeNodes: DoctorContextOptions['probe'];
  #probes: Promise<readonly KubeletProbe[]> | undefined;
  #pods: Promise<readonly RunningPod[]> | undefined;

  constructor(given: DoctorContextOptions) {
    super(given);
    this.options = given.options;
    this.doctor = given.doctor;
    this.#probeNodes = given.probe;
  }

  /** Results of scraping all kubelets, or that of `--node`; empty if that node does not exist. */
  async probes(): Promise<readonly KubeletProbe[]> {
    this.#probes ??= this.#probe();
    return await this.#probes;
  }

  /** All running pods, or those on the node of `--node`. */
  async pods(): Promise<readonly RunningPod[]> {
    this.#pods ??= this.#listPods();
    return await this.#pods;
  }

  async #probe(): Promise<readonly KubeletProbe[]> {
    const { node } = this.doctor;
    const collection = {
      path: '/api/v1/nodes',
      labelSelector: this.options.nodeSelector,
      fieldSelector: node === undefined ? undefined : `metadata.name=${node}`,
    };
    return await this.#probeNodes(await this.list('nodes', collection, reduceNode), this.signal);
  }

  async #listPods(): Promise<readonly RunningPod[]> {
    const { node } = this.doctor;
    const onNode = node === undefined ? '' : `,spec.nodeName=${node}`;
    const collection = { path: '/api/v1/pods', fieldSelector: `status.phase=Running${onNode}` };
    return await this.list('pods', collection, readRunningPod);
  }
}

/** A pod that runs according to the API server. */
export interface RunningPod {
  readonly namespace: string;
  readonly name: string;
  readonly nodeName: string;
  readonly startedAtMs: number | undefined;
}

const POD = z.object({
  metadata: z.object({ namespace: z.string(), name: z.string() }),
  spec: z.object({ nodeName: z.string() }),
  status: z.object({ startTime: z.string().optional() }),
});

/** Parses a Pod object; `undefined` without a node. */
export function readRunningPod(pod: unknown): RunningPod | undefined {
  const read = POD.safeParse(pod).data;
  if (!read) return undefined;
  const startedAtMs = Date.parse(read.status.startTime ?? '');
  return {
    ...read.metadata,
    nodeName: read.spec.nodeName,
    startedAtMs: Number.isNaN(startedAtMs) ? undefined : startedAtMs,
  };
}

/** A pod is served once its node has been scraped twice, which takes up to this many cycles. */
const MAX_CYCLES_UNTIL_SERVED = 3;

/** Whether a pod started so recently that it may have no metrics yet. */
export function isFresh(
  { startedAtMs = 0 }: Pick<RunningPod, 'startedAtMs'>,
  { nowMs, resolutionMs }: { readonly nowMs: number; readonly resolutionMs: number },
): boolean {
  return nowMs - startedAtMs < MAX_CYCLES_UNTIL_SERVED * resolutionMs;
}
