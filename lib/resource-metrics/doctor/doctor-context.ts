import * as z from 'zod/mini';
import { ApiContext, type ApiContextOptions } from '#lib/doctor/cluster-context.ts';
import { type LiveNode, reduceNode } from '#lib/resource-metrics/nodes/node-cache.ts';
import type { DoctorOptions, MetricsServerOptions } from '#lib/resource-metrics/options.ts';
import type { KubeletProbe } from './kubelet-probe.ts';

/** What checks look at, with the flags and the credentials of the server. */
interface DoctorContextOptions extends ApiContextOptions {
  readonly options: MetricsServerOptions;
  readonly doctor: DoctorOptions;
  /** Asks the kubelets of nodes, as the server does. */
  readonly probe: (nodes: readonly LiveNode[], signal: AbortSignal) => Promise<readonly KubeletProbe[]>;
}

/** What checks share: the cluster's nodes, pods and kubelets are asked for once, when the first check wants them. */
export class DoctorContext extends ApiContext {
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

  /** What came of asking the kubelets, or that of `--node` alone; nothing where there is no such node. */
  async probes(): Promise<readonly KubeletProbe[]> {
    this.#probes ??= this.#probe();
    return await this.#probes;
  }

  /** The pods that run, or run on the node of `--node`. */
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

/** A pod that the API server says is running, and where. */
export interface RunningPod {
  readonly namespace: string;
  readonly name: string;
  readonly nodeName: string;
  readonly startedAtMs: number | undefined;
}

const POD = z.object({
  metadata: z.object({ namespace: z.string(), name: z.string() }),
  spec: z.object({ nodeName: z.string() }),
  status: z.object({ startTime: z.optional(z.string()) }),
});

/** Keeps of a Pod object what the doctor uses; `undefined` for one without a node. */
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

/** So long a pod takes at most to be served: until its node was scraped twice. */
const FRESH_RESOLUTIONS = 3;

/** Whether a pod started so lately that it need not have metrics yet. */
export function isFresh(
  { startedAtMs = 0 }: Pick<RunningPod, 'startedAtMs'>,
  { nowMs, resolutionMs }: { readonly nowMs: number; readonly resolutionMs: number },
): boolean {
  return nowMs - startedAtMs < FRESH_RESOLUTIONS * resolutionMs;
}
