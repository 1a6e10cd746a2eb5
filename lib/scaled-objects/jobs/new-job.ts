import { controllerReference } from '#lib/control/owner-references.ts';
import { API_VERSION } from '../api/resources.ts';
import type { ScaledJob } from '../api/scaled-job.ts';

/** What Jobs of a ScaledJob are found by. */
export const JOB_LABEL = 'scaledjob.keda.sh/name';
/** Which generation of the ScaledJob made a Job. */
export const GENERATION_ANNOTATION = 'scaledjob.keda.sh/generation';
const EXCLUDED_LABELS = 'scaledjob.keda.sh/job-excluded-labels';
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';
const LONGEST_LABEL = 63;

/** A Job that a ScaledJob makes; the API server finds a name for it. */
export function newJob(object: ScaledJob, version: string) {
  const { metadata, spec } = object;
  const { name, namespace = '', generation = 0 } = metadata;
  const { template = {}, ...target } = spec.jobTargetRef;
  const excluded = (metadata.annotations?.[EXCLUDED_LABELS] ?? '').split(',');
  const own = Object.entries(metadata.labels ?? {}).filter(([key]) => !excluded.includes(key));
  const { [LAST_APPLIED]: _, ...annotations } = metadata.annotations ?? {};
  const generateName = `${name}-`;
  return {
    metadata: {
      generateName,
      namespace,
      labels: {
        ...Object.fromEntries(own),
        'app.kubernetes.io/name': name.slice(0, LONGEST_LABEL),
        'app.kubernetes.io/version': version.slice(0, LONGEST_LABEL).replaceAll(/[^a-zA-Z0-9._-]/g, '-'),
        'app.kubernetes.io/part-of': name.slice(0, LONGEST_LABEL),
        'app.kubernetes.io/managed-by': 'keda-operator',
        [JOB_LABEL]: name,
      },
      annotations: { ...annotations, [GENERATION_ANNOTATION]: `${generation}` },
      ownerReferences: [controllerReference({ ...object, apiVersion: API_VERSION, kind: 'ScaledJob' })],
    },
    spec: {
      ...target,
      template: {
        ...template,
        metadata: {
          ...template.metadata,
          generateName,
          labels: { ...template.metadata?.labels, [JOB_LABEL]: name },
        },
        spec: { ...template.spec, restartPolicy: template.spec?.restartPolicy || 'OnFailure' },
      },
    },
  };
}
