import { controllerReference } from '#lib/control/owner-references.ts';
import type { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { isNotFound } from '#lib/kubernetes/client/api-error.ts';
import type { ApiResource } from '#lib/kubernetes/client/api-resource.ts';
import { ResourceClient } from '#lib/kubernetes/client/resource-client.ts';
import { API_VERSION, createdLabels, LAST_APPLIED, MAX_LABEL_LENGTH } from '../api/resources.ts';
import type { ScaledJob } from '../api/scaled-job.ts';
import {
  type FoundJob,
  type FoundPod,
  GENERATION_ANNOTATION,
  readFoundJob,
  readFoundPod,
} from './job-state.ts';

const JOBS: ApiResource = { group: 'batch', version: 'v1', kind: 'Job', plural: 'jobs', namespaced: true };
const PODS: ApiResource = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };

/** Jobs of ScaledJobs, uncached: a stale count would create too many. */
export class JobClient {
  readonly #jobs: ResourceClient<FoundJob>;
  readonly #found: ResourceClient<FoundJob>;
  readonly #pods: ResourceClient<FoundPod>;
  readonly #version: string;

  /** @param reader lists Jobs and pods; their number and size are chosen by tenants */
  constructor({
    api,
    reader,
    version,
  }: { readonly api: ApiClient; readonly reader: ApiClient; readonly version: string }) {
    this.#jobs = new ResourceClient({ api, resource: JOBS });
    this.#found = new ResourceClient({ api: reader, resource: JOBS, read: readFoundJob });
    this.#pods = new ResourceClient({ api: reader, resource: PODS, read: readFoundPod });
    this.#version = version;
  }

  async list({ metadata }: ScaledJob, signal: AbortSignal): Promise<readonly FoundJob[]> {
    const labelSelector = `${JOB_LABEL}=${metadata.name}`;
    const found = await this.#found.list({ namespace: metadata.namespace, labelSelector, signal });
    return found.filter((job) => !job.metadata.deletionTimestamp);
  }

  async pods({ metadata }: ScaledJob, signal: AbortSignal): Promise<readonly FoundPod[]> {
    const labelSelector = `${JOB_LABEL}=${metadata.name}`;
    return await this.#pods.list({ namespace: metadata.namespace, labelSelector, signal });
  }

  /**
   * Creates a Job.
   *
   * @param dryRun validates it without creating it
   * @returns the creation time by the API server's clock, in milliseconds since the Unix epoch, rounded down to whole seconds;
   * `NaN` if the response has none
   */
  async create(
    object: ScaledJob,
    { signal, dryRun = false }: { signal: AbortSignal; dryRun?: boolean },
  ): Promise<number> {
    const { metadata } = await this.#jobs.create(newJob(object, this.#version) as never, { signal, dryRun });
    return Date.parse(metadata.creationTimestamp ?? '');
  }

  async delete(
    { metadata }: FoundJob,
    policy: 'Background' | 'Foreground',
    signal: AbortSignal,
  ): Promise<void> {
    const { namespace, name, uid } = metadata;
    try {
      await this.#jobs.delete(
        { namespace, name },
        { propagationPolicy: policy, signal, ...(uid && { preconditions: { uid } }) },
      );
    } catch (error) {
      if (!isNotFound(error)) throw error; // already deleted
    }
  }
}

/** Label that selects the Jobs of a ScaledJob. */
const JOB_LABEL = 'scaledjob.keda.sh/name';
const EXCLUDED_LABELS = 'scaledjob.keda.sh/job-excluded-labels';

/** The Job that a ScaledJob creates; the API server generates its name. */
export function newJob(object: ScaledJob, version: string) {
  const { metadata, spec } = object;
  const { name, namespace = '', generation = 0 } = metadata;
  const { template = {}, ...target } = spec.jobTargetRef ?? {};
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
        'app.kubernetes.io/name': name.slice(0, MAX_LABEL_LENGTH),
        ...createdLabels(name, version),
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
