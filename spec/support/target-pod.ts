import { PODS } from '#lib/kubernetes/objects/pod.ts';
import { TARGET_PODS, type TargetPod } from '#lib/metrics-adapter/targets/target-pods.ts';

const decode = PODS.decoder([TARGET_PODS.needs]);

/** What the metrics adapter caches of a pod, as the API server sends it. @throws for other values */
export function readTargetPod(value: unknown): TargetPod {
  return TARGET_PODS.view(decode(value));
}
