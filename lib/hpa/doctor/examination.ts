import { type Diagnoses, failedBy } from '#lib/doctor/check.ts';
import type { ApiContext } from '#lib/doctor/cluster-context.ts';
import { collectionPath } from '#lib/kubernetes/client/api-resource.ts';
import { HPA_VERSIONS, type Hpa, readHpa } from '#lib/kubernetes/objects/hpa-versions.ts';

/** The HPAs that the checks of one examination share: listed once. */
export class ExaminedHpas {
  readonly #namespace: string | undefined;
  #hpas: Promise<readonly Hpa[]> | undefined;

  /** @param namespace the one to look at; `undefined` for all */
  constructor(namespace: string | undefined) {
    this.#namespace = namespace;
  }

  /** All of them, in the best version that the API server has. */
  async all(context: ApiContext): Promise<readonly Hpa[]> {
    this.#hpas ??= this.#list(context);
    return await this.#hpas;
  }

  async #list(context: ApiContext): Promise<readonly Hpa[]> {
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

/** What the doctor can find wrong with scaling by metrics. */
export const HPA_DIAGNOSES = {
  'hpa-controlled-elsewhere': {
    title: 'Another controller decides an HPA, too',
    remedy:
      'Tell kube-controller-manager to leave HPAs alone by --controllers=*,-horizontal-pod-autoscaler-controller (before Kubernetes 1.28 -horizontalpodautoscaling), or this autoscaler by --controllers=*,-hpa: while MANAGER writes the status of NAME in NAMESPACE, nothing is scaled here.',
  },
  'hpa-metrics-api-silent': {
    title: 'A metrics API that HPAs need does not respond',
    remedy:
      'See what `kubectl get apiservices` says of GROUP, and the logs of what serves it: HPAs with its metrics do not scale down, and do not scale at all without another metric.',
  },
  'hpa-request-missing': {
    title: "The containers of an HPA's target lack requests that it divides by",
    remedy:
      'Give each container of TARGET (KIND in NAMESPACE) a request for RESOURCE, sidecars included, or have a LimitRange do that: utilization is a part of what is requested, so hpa NAME cannot be decided by it, and does not scale down by any other metric. A target by averageValue needs none.',
  },
  'hpa-target-not-scalable': {
    title: "An HPA's target is of a kind that cannot be scaled",
    remedy:
      'Correct `apiVersion` and `kind` of its scaleTargetRef by `kubectl -n NAMESPACE edit hpa NAME`, install what defines KIND, or give its CustomResourceDefinition the subresource scale.',
  },
  'hpa-target-missing': {
    title: "An HPA's target does not exist",
    remedy:
      'Create it, or correct the scaleTargetRef: `kubectl -n NAMESPACE edit hpa NAME`. Until then nothing is scaled.',
  },
  'hpa-ambiguous-selector': {
    title: 'Several HPAs scale the same pods',
    remedy:
      'HPA NAME scales the same pods as OTHERS: one of them has to go, as by `kubectl -n NAMESPACE delete hpa NAME`, or, where they scale different targets, the selectors of these must not select pods of one another. Until then none of them scales anything.',
  },
  'hpa-cannot-decide': {
    title: 'An HPA cannot be decided by its metrics',
    remedy:
      'See what is said of its metrics: `kubectl -n NAMESPACE describe hpa NAME`, and `/debug/hpa?namespace=NAMESPACE&name=NAME` of the leader, which has each metric with what was read of it. With a metric that cannot be read it does not scale down, and without any it does not scale at all.',
  },
  'hpa-annotation-invalid': {
    title: 'An annotation of an HPA cannot be read',
    remedy:
      'Correct it: `kubectl -n NAMESPACE edit hpa NAME`; docs/reference/annotations.md has what each may be. Until then the HPA is decided at the period of all, or its minReplicas is left alone.',
  },
} as const satisfies Diagnoses;

/** Makes the finding that one of them is. */
export const failed = failedBy(HPA_DIAGNOSES);
