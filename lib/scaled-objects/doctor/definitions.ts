import { type Check, note, ok } from '#lib/doctor/check.ts';
import type { ClusterContext } from '#lib/doctor/cluster-context.ts';
import { collectionPath, formatApiVersion } from '#lib/kubernetes/client/api-resource.ts';
import { readScaledJob, readScaledObject } from '../api/cached-objects.ts';
import { SCALED_JOBS, SCALED_OBJECTS, WATCHED_KINDS } from '../api/resources.ts';
import type { ScaledJob } from '../api/scaled-job.ts';
import type { ScaledObject } from '../api/scaled-object.ts';
import { failed } from './diagnoses.ts';

/** Checks that all kinds are served, or none: a cluster without any does not use them. */
export const definitions: Check = {
  name: 'scaledobjects-definitions',
  title: 'CustomResourceDefinitions of keda.sh',

  async run(context) {
    const served = await servedKinds(context);
    if (!served.includes(true))
      return [
        note('keda.sh', 'no CustomResourceDefinition is installed; event-driven scaling is not in use'),
      ];
    return WATCHED_KINDS.map((resource, index) => {
      const apiVersion = formatApiVersion(resource);
      const subject = `${resource.plural}.${resource.group}`;
      if (served[index]) return ok(subject, `served as ${apiVersion}`);
      const diagnosis = 'scaledobjects-definition-missing';
      return failed(subject, `the API server does not serve ${apiVersion}`, { diagnosis });
    });
  },
};

export async function isAnyServed(context: ClusterContext): Promise<boolean> {
  return (await servedKinds(context)).includes(true);
}

/** Skips a check if no kind is served. */
export function whereServed({ run, ...check }: Check): Check {
  return {
    ...check,
    async run(context) {
      if (await isAnyServed(context)) return await run(context);
      return [note('keda.sh', 'not checked: no CustomResourceDefinition is installed')];
    },
  };
}

async function servedKinds({ mapper, signal }: ClusterContext): Promise<readonly boolean[]> {
  return await Promise.all(
    WATCHED_KINDS.map(async (resource) => {
      const reference = { apiVersion: formatApiVersion(resource), kind: resource.kind };
      return (await mapper.findExact(reference, signal)) !== undefined;
    }),
  );
}

interface FoundObjects {
  readonly objects: readonly ScaledObject[];
  readonly jobs: readonly ScaledJob[];
}

/** Lists the objects once for all checks of one run. */
export class ExaminedObjects {
  readonly #namespace: string | undefined;
  #found: Promise<FoundObjects> | undefined;

  /** @param namespace `undefined` for all */
  constructor(namespace: string | undefined) {
    this.#namespace = namespace;
  }

  async all(context: ClusterContext): Promise<FoundObjects> {
    this.#found ??= this.#list(context);
    return await this.#found;
  }

  async #list(context: ClusterContext): Promise<FoundObjects> {
    const list = async <T>(resource: typeof SCALED_OBJECTS, read: (value: unknown) => T) =>
      await context.list(
        `${resource.plural}.${resource.group}`,
        { path: collectionPath(resource, this.#namespace) },
        read,
      );
    return {
      objects: await list(SCALED_OBJECTS, readScaledObject),
      jobs: await list(SCALED_JOBS, readScaledJob),
    };
  }
}
