import { formatCpuNanocores, formatMemoryBytes } from '#lib/kubernetes/quantity.ts';
import { formatDuration } from '#lib/time/duration.ts';

/** Usage as the pages of `/debug/` tell it: quantities as the API writes them. */
export interface UsageDescription {
  readonly cpu: string;
  readonly memory: string;
  readonly timestamp: string;
  readonly window: string;
}

/** Describes the usage of a node, or of a pod by the sum over its containers. */
export function describeUsage(
  { timestampMs, windowMs }: { readonly timestampMs: number; readonly windowMs: number },
  parts: readonly { readonly cpuNanocores: number; readonly memoryBytes: number }[],
): UsageDescription {
  return {
    cpu: formatCpuNanocores(parts.reduce((sum, { cpuNanocores }) => sum + cpuNanocores, 0)),
    memory: formatMemoryBytes(parts.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0)),
    timestamp: isoTime(timestampMs),
    window: formatDuration(windowMs),
  };
}

/** A wall clock time in RFC 3339, as all of `/debug/` writes it. */
export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
