import { type Diagnoses, failedBy } from '#lib/doctor/check.ts';

/** What the doctor can find wrong with metrics that are collected for HPAs. */
export const METRICS_DIAGNOSES = {
  'metric-not-configured': {
    title: 'A metric of an HPA cannot be collected as it is configured',
    remedy:
      'Mend what the finding names in the annotations or the metrics of HPA NAME: `kubectl -n NAMESPACE edit hpa NAME`; docs/metrics.md has an example of each collector.',
  },
  'prometheus-server-missing': {
    title: 'There is no Prometheus to ask for a metric of an HPA',
    remedy:
      'Give the autoscaler the flag --prometheus-server, which is for all HPAs, or HPA NAME a server of its own by the annotation that the finding names: `kubectl -n NAMESPACE edit hpa NAME`.',
  },
  'metric-misnamed': {
    title: 'The annotations and the metrics of an HPA name a metric differently',
    remedy:
      'Give both the same name in the annotations and the metrics of HPA NAME: `kubectl -n NAMESPACE edit hpa NAME`. CONFIGURED, which the annotations configure, is asked for by none of its metrics, and nothing collects ASKED; if another provider serves that, take the annotations away.',
  },
  'metrics-api-unregistered': {
    title: 'Nothing serves a metrics API that is collected for',
    remedy:
      'Add the component COMPONENT to the kustomization, or set the values metricsApis of the chart, so that the APIService of GROUP leads to the autoscaler.',
  },
  'metrics-api-unavailable': {
    title: 'An APIService of collected metrics is not available',
    remedy:
      'See that pods of SERVICE are ready and what their logs say, and let the API server open TCP connections to the port of --secure-port on them; `kubectl get apiservice NAME -o yaml` has its words.',
  },
  'metrics-api-of-another': {
    title: 'Another provider serves a metrics API that is collected for',
    remedy:
      'Decide who serves GROUP: have its APIServices lead to the autoscaler by the component COMPONENT, or leave it to SERVICE by --enable-FLAG-metrics-api=false and take the annotations metric-config away.',
  },
  'metric-source-silent': {
    title: 'The source of a metric gives no result',
    remedy:
      'Ask the source by hand what the finding names, from a pod of the same namespace as the autoscaler: its address may be wrong, its credentials refused, the host not among --allowed-hosts, or the query without a result.',
  },
  'metric-not-served': {
    title: 'A metric that its source knows is not served',
    remedy:
      'See what /debug/metrics of each replica says of HPA NAME in NAMESPACE: a replica that cannot reach the source, or does not see the HPA, serves nothing of it.',
  },
} as const satisfies Diagnoses;

/** Makes the finding that one of them is. */
export const failed = failedBy(METRICS_DIAGNOSES);
