import { type Check, note, ok } from '#lib/doctor/check.ts';
import type { ApiContext } from '#lib/doctor/cluster-context.ts';
import { collectionPath, formatApiVersion } from '#lib/kubernetes/client/api-resource.ts';
import { readObject } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { SCALED_JOBS, SCALED_OBJECTS, WATCHED_KINDS } from '../api/resources.ts';
import type { ScaledJob } from '../api/scaled-job.ts';
import type { ScaledObject } from '../api/scaled-object.ts';
import { failed } from './diagnoses.ts';

/** Whether the API server knows what there is to be followed; a cluster without any of it needs none of it. */
export const definitions: Check = {
  name: 'scaledobjects-definitions',
  title: 'Definitions of keda.sh',

  async run(context) {
    const served = await servedKinds(context);
    if (!served.includes(true))
      return [note('keda.sh', 'no definition is installed: nothing is scaled by events')];
    return WATCHED_KINDS.map((resource, index) => {
      const apiVersion = formatApiVersion(resource);
      const subject = `${resource.plural}.${resource.group}`;
      if (served[index]) return ok(subject, `served as ${apiVersion}`);
      const diagnosis = 'scaledobjects-definition-missing';
      return failed(subject, `the API server does not serve ${apiVersion}`, { diagnosis });
    });
  },
};

/** Whether any kind is served: where none is, there is nothing to be done, and so nothing that is missing for it. */
export async function isAnyServed(context: ApiContext): Promise<boolean> {
  return (await servedKinds(context)).includes(true);
}

/** Has a check look only where there can be objects: elsewhere nothing that it could find matters. */
export function whereServed({ run, ...check }: Check): Check {
  return {
    ...check,
    async run(context) {
      if (await isAnyServed(context)) return await run(context);
      return [note('keda.sh', 'no definition is installed: this is not looked at')];
    },
  };
}

async function servedKinds({ mapper, signal }: ApiContext): Promise<readonly boolean[]> {
  return await Promise.all(
    WATCHED_KINDS.map(async (resource) => {
      const reference = { apiVersion: formatApiVersion(resource), kind: resource.kind };
      return (await mapper.findExact(reference, signal)) !== undefined;
    }),
  );
}

/** What there is of both kinds. */
interface FoundObjects {
  readonly objects: readonly ScaledObject[];
  readonly jobs: readonly ScaledJob[];
}

/** The objects that the checks of one examination share: listed once. */
export class ExaminedObjects {
  readonly #namespace: string | undefined;
  #found: Promise<FoundObjects> | undefined;

  /** @param namespace the one to look at; `undefined` for all */
  constructor(namespace: string | undefined) {
    this.#namespace = namespace;
  }

  async all(context: ApiContext): Promise<FoundObjects> {
    this.#found ??= this.#list(context);
    return await this.#found;
  }

  async #list(context: ApiContext): Promise<FoundObjects> {
    const list = async <T>(resource: typeof SCALED_OBJECTS) =>
      await context.list(
        `${resource.plural}.${resource.group}`,
        { path: collectionPath(resource, this.#namespace) },
        (value) => readObject(value) as T,
      );
    return { objects: await list<ScaledObject>(SCALED_OBJECTS), jobs: await list<ScaledJob>(SCALED_JOBS) };
  }
}
