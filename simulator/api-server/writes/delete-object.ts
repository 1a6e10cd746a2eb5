import { z } from 'zod';
import { deleteObject, markForDeletion } from '../../objects/deletion.ts';
import type { KubernetesObject } from '../../objects/kubernetes-object.ts';
import { readBody } from '../api-request.ts';
import { listOptions, listPage } from '../list.ts';
import { badRequest, conflict, detailsOf, notFound, type Status } from '../status.ts';
import type { ObjectWrite } from './object-write.ts';

const optionsSchema = z.looseObject({
  preconditions: z
    .looseObject({ uid: z.string().nullish(), resourceVersion: z.string().nullish() })
    .nullish(),
  dryRun: z.array(z.string()).nullish(),
});

interface DeleteOptions {
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly isDryRun: boolean;
}

/** The result of a DELETE. */
interface DeletedObject {
  /** Its last state, or the state in which it waits for its finalizers. */
  readonly object: KubernetesObject;
  /** The response instead of the object, as for most resources when the object is removed. */
  readonly status?: Status;
}

/**
 * Deletes the object of a request.
 *
 * @throws ApiError 404, or 409 when a precondition fails
 */
export async function deleteNamed(write: ObjectWrite): Promise<DeletedObject> {
  const { target, type, context } = write;
  const options = await deleteOptions(write);
  const { name = '' } = target;
  const object = context.store.get(type.storage, target.namespace, name);
  if (!object) throw notFound(target, name);
  checkPreconditions(object, options, write);
  const { object: last, isRemoved } = deleted(object, options, write);
  return isRemoved && !type.returnsDeletedObject
    ? { object: last, status: success(last, write) }
    : { object: last };
}

/** Deletes all objects that a request selects, and returns them. */
export async function deleteSelected(write: ObjectWrite): Promise<readonly KubernetesObject[]> {
  const { target, type, context, request } = write;
  const options = await deleteOptions(write);
  const { items } = listPage(context.store, type, listOptions(target, request.query));
  return items.map((object) => deleted(object, options, write).object);
}

function deleted(object: KubernetesObject, { isDryRun }: DeleteOptions, { type, context }: ObjectWrite) {
  const { store, clock } = context;
  if (!isDryRun) return deleteObject(object, { store, clock, storage: type.storage });
  const marked = markForDeletion(object, clock);
  return { object: marked ?? object, isRemoved: marked === undefined };
}

function checkPreconditions(
  { metadata }: KubernetesObject,
  { uid, resourceVersion }: DeleteOptions,
  { target }: ObjectWrite,
): void {
  const refuse = (what: string, expected: string, found: string) =>
    conflict(
      target,
      metadata.name,
      `Precondition failed: ${what} in precondition: ${expected}, ${what} in object meta: ${found}`,
    );
  if (uid && uid !== metadata.uid) throw refuse('UID', uid, metadata.uid);
  if (resourceVersion && resourceVersion !== metadata.resourceVersion)
    throw refuse('ResourceVersion', resourceVersion, metadata.resourceVersion);
}

async function deleteOptions({ request, options }: ObjectWrite): Promise<DeleteOptions> {
  const body = (await readBody(request)).toString();
  const parsed = optionsSchema.safeParse(body.trim() === '' ? {} : parseJson(body));
  if (!parsed.success) throw badRequest('the DeleteOptions provided are unrecognized');
  const { preconditions, dryRun } = parsed.data;
  return {
    uid: preconditions?.uid ?? undefined,
    resourceVersion: preconditions?.resourceVersion ?? undefined,
    isDryRun: options.isDryRun || (dryRun ?? []).includes('All'),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest('the DeleteOptions provided are unrecognized');
  }
}

function success({ metadata }: KubernetesObject, { type }: ObjectWrite): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { ...detailsOf(type, metadata.name), uid: metadata.uid },
  };
}
