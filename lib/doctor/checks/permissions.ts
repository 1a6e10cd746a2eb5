import type { Check } from '../check.ts';
import type { ApiContext } from '../cluster-context.ts';
import { type Fail, type Finding, note, ok } from '../finding.ts';
import { describePermission, isAllowed, type Permission } from '../permission.ts';

/** What a program must be allowed, and how it is told what it is not. */
export interface PermissionsOptions<C extends ApiContext> {
  readonly permissionsOf: (context: C) => readonly Permission[] | Promise<readonly Permission[]>;
  /** Begins the names of the roles that a remedy proposes. */
  readonly program: string;
  readonly failed: Fail<'permission-missing'>;
}

/** Whether a program may do, verb by verb, all that it does. */
export function permissionsCheck<C extends ApiContext>(options: PermissionsOptions<C>): Check<C> {
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

/** Makes the finding that a permission is missing, with the commands that grant it. */
function missingPermission(
  permission: Permission,
  {
    program,
    failed,
    account,
  }: Pick<PermissionsOptions<ApiContext>, 'program' | 'failed'> & { readonly account: string | undefined },
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
