import { propertyOf } from '#lib/kubernetes/object-metadata.ts';
import type { ExtraBytes, ExtraResources } from '#lib/resource-metrics/batch/extra-resources.ts';

/** What a container uses beside CPU and memory: its writable layer and its logs are its ephemeral storage. */
export function containerExtras(container: unknown, wanted: ExtraResources): ExtraBytes {
  const [rootfs, logs] = [usedBytes(container, 'rootfs'), usedBytes(container, 'logs')];
  const isKnown = rootfs !== undefined && logs !== undefined;
  return extrasOf(container, wanted, isKnown ? rootfs + logs : undefined);
}

/** What a node uses beside CPU and memory: the file system of its kubelet is its ephemeral storage. */
export function nodeExtras(node: unknown, wanted: ExtraResources): ExtraBytes {
  return extrasOf(node, wanted, usedBytes(node, 'fs'));
}

function extrasOf(stats: unknown, wanted: ExtraResources, storage: number | undefined): ExtraBytes {
  const swap = bytes(propertyOf(propertyOf(stats, 'swap'), 'swapUsageBytes'));
  return {
    ...(wanted.has('ephemeral-storage') && storage !== undefined && { 'ephemeral-storage': storage }),
    ...(wanted.has('swap') && swap !== undefined && { swap }),
  };
}

function usedBytes(stats: unknown, section: string): number | undefined {
  return bytes(propertyOf(propertyOf(stats, section), 'usedBytes'));
}

/** A 0 is one here: kubelets leave out these sections where they know nothing. */
function bytes(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && Number.isFinite(value) ? value : undefined;
}
