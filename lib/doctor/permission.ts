import { propertyOf } from '#lib/kubernetes/object-metadata.ts';
import type { ApiContext } from './cluster-context.ts';

/** Something that a server does. */
export interface Permission {
  readonly verb: string;
  readonly group: string;
  /** With a subresource behind a slash, where it is about one. */
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
  /** What does in its place, if something does. */
  readonly instead?: {
    /** The resource of another permission of the list. */
    readonly resource: string;
    /** What the server then does. */
    readonly seen: string;
  };
}

const REVIEWS = '/apis/authorization.k8s.io/v1';

/** As in `get configmaps NAME`. */
export function describePermission({ verb, resource, name }: Permission): string {
  return `${verb} ${resource}${name === undefined ? '' : ` ${name}`}`;
}

/**
 * Asks whether the server may do something: by its account, or where the doctor has the same, by that of the doctor.
 *
 * @throws {MissingPermission} where that must not be asked
 */
export async function isAllowed(
  context: ApiContext,
  { resource, verb, group, namespace, name }: Permission,
): Promise<boolean> {
  const [plural, subresource] = resource.split('/');
  const resourceAttributes = { verb, group, resource: plural, subresource, namespace, name };
  const account = context.serverAccount;
  const kind = account === undefined ? 'SelfSubjectAccessReview' : 'SubjectAccessReview';
  const resourceName = `${kind.toLowerCase()}s`;
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind,
    spec: { resourceAttributes, ...(account !== undefined && { user: account, groups: groupsOf(account) }) },
  };
  const response = await context.review(`${REVIEWS}/${resourceName}`, review, `create ${resourceName}`);
  return propertyOf(propertyOf(response, 'status'), 'allowed') === true;
}

/** Groups that the API server puts service accounts in. */
function groupsOf(account: string): readonly string[] {
  const [, namespace] = /^system:serviceaccount:([^:]+):/.exec(account) ?? [];
  const own =
    namespace === undefined ? [] : ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
  return [...own, 'system:authenticated'];
}
