import * as z from 'zod/mini';

/** What is kept of a pod, to ask it for metrics and to serve them. */
export interface TargetPod {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Absent until it has one. */
  readonly ip: string | undefined;
  /** Since when it is ready, in milliseconds since the Unix epoch; `undefined` while it is not, and when it is to go. */
  readonly readySinceMs: number | undefined;
}

const POD = z.object({
  metadata: z.object({
    namespace: z.string(),
    name: z.string(),
    uid: z._default(z.string(), ''),
    labels: z._default(z.record(z.string(), z.string()), {}),
    deletionTimestamp: z.optional(z.string()),
  }),
  status: z.optional(
    z.object({
      phase: z.optional(z.string()),
      podIP: z.optional(z.string()),
      conditions: z.optional(
        z.nullable(
          z.array(
            z.object({
              type: z.string(),
              status: z.string(),
              lastTransitionTime: z.optional(z.nullable(z.string())),
            }),
          ),
        ),
      ),
    }),
  ),
});

/** Takes what the API server sent for a pod; `undefined` for what is none. */
export function readTargetPod(value: unknown): TargetPod | undefined {
  const read = POD.safeParse(value);
  if (!read.success) return undefined;
  const { metadata, status } = read.data;
  const { namespace, name, uid, labels, deletionTimestamp } = metadata;
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  const isReady = ready?.status === 'True' && deletionTimestamp === undefined && status?.phase === 'Running';
  const sinceMs = Date.parse(ready?.lastTransitionTime ?? '');
  return {
    ...{ namespace, name, uid, labels },
    ip: status?.podIP || undefined,
    readySinceMs: isReady ? (Number.isFinite(sinceMs) ? sinceMs : 0) : undefined,
  };
}

const LABELS = 'labels';
const NAMESPACE = 'namespace';

/** By what pods are found: by namespace, and by that with each of their labels. */
export const TARGET_POD_INDEXES = {
  [NAMESPACE]: ({ namespace }: TargetPod) => [namespace],
  [LABELS]: ({ namespace, labels }: TargetPod) =>
    Object.entries(labels).map(([key, value]) => labelWord(namespace, key, value)),
};

/** A label of pods of a namespace, as the index has it. */
export function labelWord(namespace: string, key: string, value: string): string {
  return `${namespace}\n${key}=${value}`;
}
