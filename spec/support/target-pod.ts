import { PODS } from '#lib/kubernetes/objects/pod.ts';
import { TARGET_PODS, type TargetPod } from '#lib/metrics-adapter/targets/target-pods.ts';

const decode = PODS.decoder([TARGET_PODS.needs]);

/** Decodes a pod of the API server as the metrics adapter caches it. @throws for other values */
export function readTargetPod(value: unknown): TargetPod {
  return TARGET_PODS.view(decode(value));
}
