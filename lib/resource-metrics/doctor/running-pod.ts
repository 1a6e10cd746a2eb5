import * as z from 'zod/mini';

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
