import { propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { type Check, type Fail, type Finding, note, ok } from './check.ts';
import type { ClusterContext } from './cluster-context.ts';

export interface Permission {
  readonly verb: string;
  readonly group: string;
  /** With its subresource, as in `nodes/stats`. */
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
  /** An alternative, if the program has one. */
  readonly instead?: {
    /** The resource of another permission in the list. */
    readonly resource: string;
    /** Describes how the server uses it. */
    readonly seen: string;
  };
}

const REVIEWS = '/apis/authorization.k8s.io/v1';

/** As in `get configmaps NAME`. */
function describePermission({ verb, resource, name }: Permission): string {
  return `${verb} ${resource}${name === undefined ? '' : ` ${name}`}`;
}

/**
 * Sends an access review for the server's account, or for the doctor's if they are the same.
 *
 * @throws {MissingPermission} if the review is denied
 */
export async function isAllowed(
  context: ClusterContext,
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
    spec: {
      resourceAttributes,
      ...(account !== undefined && { user: account, groups: deriveGroups(account) }),
    },
  };
  const response = await context.review(`${REVIEWS}/${resourceName}`, review, `create ${resourceName}`);
  return propertyOf(propertyOf(response, 'status'), 'allowed') === true;
}

/** The groups that the API server adds service accounts to. */
function deriveGroups(account: string): readonly string[] {
  const [, namespace] = /^system:serviceaccount:([^:]+):/.exec(account) ?? [];
  const own =
    namespace === undefined ? [] : ['system:serviceaccounts', `system:serviceaccounts:${namespace}`];
  return [...own, 'system:authenticated'];
}

interface PermissionsOptions<C extends ClusterContext> {
  readonly permissionsOf: (context: C) => readonly Permission[] | Promise<readonly Permission[]>;
  /** Prefix of role names in remedies. */
  readonly program: string;
  readonly failed: Fail<'permission-missing'>;
}

/** Checks each permission that a program requires. */
export function permissionsCheck<C extends ClusterContext>(options: PermissionsOptions<C>): Check<C> {
  return {
    name: 'permissions',
    title: 'Permissions',

    async run(context) {
      const required = await options.permissionsOf(context);
      const allowed = await Promise.all(required.map((permission) => isAllowed(context, permission)));
      const account = context.serverAccount ?? (allowed.every(Boolean) ? undefined : await context.account());
      const isAllowedTo = (resource: string) =>
        required.some((permission, index) => permission.resource === resource && allowed[index]);
      return required.map((permission, index) => {
        const { instead } = permission;
        if (allowed[index]) return ok(describePermission(permission), 'granted');
        if (instead !== undefined && isAllowedTo(instead.resource)) {
          return note(describePermission(permission), `not granted; ${instead.seen}`);
        }
        return missingPermission(permission, { ...options, account });
      });
    },
  };
}

/** Creates the finding of a missing permission, whose remedy has the commands that grant it. */
function missingPermission(
  permission: Permission,
  {
    program,
    failed,
    account,
  }: Pick<PermissionsOptions<ClusterContext>, 'program' | 'failed'> & {
    readonly account: string | undefined;
  },
): Finding {
  const { verb, group, resource, name } = permission;
  const [plural, ...subresource] = resource.split('/');
  const qualified = [group === '' ? plural : `${plural}.${group}`, ...subresource].join('/');
  return failed(describePermission(permission), 'not granted', {
    diagnosis: 'permission-missing',
    ROLE: `${program}-${verb}-${resource.replace('/', '-')}`,
    VERB: verb,
    RESOURCE: name === undefined ? qualified : `${qualified} --resource-name=${name}`,
    ...(account !== undefined && { ACCOUNT: account }),
  });
}
