import { type Diagnoses, failedBy } from '#lib/doctor/check.ts';
import type { ClusterContext } from '#lib/doctor/cluster-context.ts';
import { collectionPath } from '#lib/kubernetes/client/api-resource.ts';
import { HPA_VERSIONS, type Hpa, readHpa } from '#lib/kubernetes/objects/hpa-versions.ts';

/** The HPAs that the checks of one examination share; listed once. */
export class ExaminedHpas {
  readonly #namespace: string | undefined;
  #hpas: Promise<readonly Hpa[]> | undefined;

  /** @param namespace the namespace to examine; `undefined` for all */
  constructor(namespace: string | undefined) {
    this.#namespace = namespace;
  }

  /** All HPAs, in the preferred version that the API server serves. */
  async all(context: ClusterContext): Promise<readonly Hpa[]> {
    this.#hpas ??= this.#list(context);
    return await this.#hpas;
  }

  async #list(context: ClusterContext): Promise<readonly Hpa[]> {
    for (const version of HPA_VERSIONS) {
      const kind = { apiVersion: `autoscaling/${version}`, kind: 'HorizontalPodAutoscaler' };
      const resource = await context.mapper.findExact(kind, context.signal);
      if (!resource) continue;
      const collection = { path: collectionPath(resource, this.#namespace) };
      return await context.list('horizontalpodautoscalers.autoscaling', collection, (value) => {
        try {
          return readHpa(value, version);
        } catch {
          return undefined;
        }
      });
    }
    return [];
  }
}

export const HPA_DIAGNOSES = {
  'hpa-controlled-elsewhere': {
    title: 'Another controller manages an HPA',
    remedy:
      'Disable the HPA controller of kube-controller-manager with --controllers=*,-horizontal-pod-autoscaler-controller (before Kubernetes 1.28 -horizontalpodautoscaling), or the HPA controller of this autoscaler with --controllers=*,-hpa. While MANAGER writes the status of NAME in NAMESPACE, this autoscaler does not scale it.',
  },
  'hpa-metrics-api-silent': {
    title: 'A metrics API that HPAs need does not respond',
    remedy:
      'Check GROUP in `kubectl get apiservices` and the logs of its server. HPAs that use its metrics do not scale down; HPAs that use only its metrics do not scale at all.',
  },
  'hpa-request-missing': {
    title: "Containers of an HPA's target have no requests for a resource",
    remedy:
      'Set a request for RESOURCE on each container of TARGET (KIND in NAMESPACE), sidecars included, or with a LimitRange. Utilization is relative to requests: without them, HPA NAME cannot evaluate the metric and does not scale down. A target with averageValue needs no requests.',
  },
  'hpa-container-missing': {
    title: "A container of an HPA's metric does not exist",
    remedy:
      'Correct the container of the metric with `kubectl -n NAMESPACE edit hpa NAME`, or add the container to TARGET (KIND in NAMESPACE): a metric of type ContainerResource requires it in each pod, and its request for RESOURCE. Until then, the HPA does not scale down.',
  },
  'hpa-target-not-scalable': {
    title: "The kind of an HPA's target cannot be scaled",
    remedy:
      'Correct `apiVersion` and `kind` of the scaleTargetRef with `kubectl -n NAMESPACE edit hpa NAME`, install the definition of KIND, or add the scale subresource to its CustomResourceDefinition.',
  },
  'hpa-target-missing': {
    title: "An HPA's target does not exist",
    remedy:
      'Create the target, or correct the scaleTargetRef: `kubectl -n NAMESPACE edit hpa NAME`. Until then, the HPA does not scale.',
  },
  'hpa-ambiguous-selector': {
    title: 'Several HPAs scale the same pods',
    remedy:
      'HPA NAME selects the same pods as OTHERS: delete all but one, for example with `kubectl -n NAMESPACE delete hpa NAME`; or, if they scale different targets, make the selectors of the targets disjoint. Until then none of them scales.',
  },
  'hpa-cannot-decide': {
    title: 'The metrics of an HPA cannot be evaluated',
    remedy:
      'Check the metrics of the HPA with `kubectl -n NAMESPACE describe hpa NAME`, and `/debug/hpa?namespace=NAMESPACE&name=NAME` of the leader, which shows the values of each metric. The check "Values of collected metrics" has the cause where a custom or external metric is not served. While one metric fails, the HPA does not scale down; while all fail, it does not scale at all.',
  },
  'hpa-annotation-invalid': {
    title: 'An annotation of an HPA is invalid',
    remedy:
      'Correct the annotation: `kubectl -n NAMESPACE edit hpa NAME`; docs/reference/annotations.md lists the valid values. Until then, the default period is used, or minReplicas is not changed.',
  },
} as const satisfies Diagnoses;

export const failed = failedBy(HPA_DIAGNOSES);
