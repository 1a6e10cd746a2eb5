import type { Clock } from '#lib/time/clock.ts';
import { formatTimestamp, type KubernetesObject, type NewObject } from '../../objects/kubernetes-object.ts';

/** A server that serves one version of an API group behind the API server. */
export interface Backend {
  readonly group: string;
  readonly version: string;
  readonly host: string;
  readonly port: number;
  /** The service that its APIService names, and that its certificate must. */
  readonly service: { readonly namespace: string; readonly name: string };
  /** PEM to verify it by; without one it is not verified (`insecureSkipTLSVerify`). */
  readonly caPem?: string;
}

/** What the API server last found out about an aggregated server. */
export interface Availability {
  readonly isAvailable: boolean;
  readonly reason: string;
  readonly message: string;
}

/** The APIService of apiregistration.k8s.io/v1 that registers an aggregated server. */
export function apiServiceObject({ group, version, service, caPem }: Backend): NewObject {
  return {
    kind: 'APIService',
    apiVersion: 'apiregistration.k8s.io/v1',
    metadata: { name: `${version}.${group}`, labels: { 'k8s-app': service.name } },
    spec: {
      service: { ...service, port: 443 },
      group,
      version,
      ...(caPem === undefined
        ? { insecureSkipTLSVerify: true }
        : { caBundle: Buffer.from(caPem).toString('base64') }),
      groupPriorityMinimum: 100,
      versionPriority: 100,
    },
    status: {},
  };
}

/** The APIService with its condition Available as it is now. */
export function withAvailability(
  object: KubernetesObject,
  { isAvailable, reason, message }: Availability,
  clock: Clock,
): KubernetesObject {
  const condition = {
    type: 'Available',
    status: isAvailable ? 'True' : 'False',
    lastTransitionTime: formatTimestamp(clock.nowMs()),
    reason,
    message,
  };
  return { ...object, status: { conditions: [condition] } };
}
