import type { DocumentResource, ObjectKey } from '#lib/apiserver/api-group.ts';
import type { ApiContext } from '#lib/apiserver/http/api-context.ts';
import { notFound } from '#lib/apiserver/http/failures.ts';
import { writeDocument } from '#lib/apiserver/http/write-response.ts';
import type { ResourceIdentity } from './conversion.ts';
import { readRequestOf } from './read-request-of.ts';

/** Responds with a document of a resource's own making. */
export async function serveDocument(
  context: ApiContext,
  {
    group,
    resource,
    key,
  }: ResourceIdentity & { readonly resource: DocumentResource; readonly key: ObjectKey },
): Promise<void> {
  const document = await context.state.deadline.wait(resource.read(key, readRequestOf(context.state)));
  if (!document) throw notFound({ group, resource: resource.name }, key.name);
  writeDocument(context, document);
}
