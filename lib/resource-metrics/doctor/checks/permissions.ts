import { propertyOf } from '#lib/kubernetes/object-metadata.ts';
import type { Check } from '#lib/resource-metrics/doctor/check.ts';
import type { DoctorContext } from '#lib/resource-metrics/doctor/doctor-context.ts';
import { type Finding, failed, note, ok } from '#lib/resource-metrics/doctor/finding.ts';

/** Something that the server does. */
interface Permission {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly namespace?: string;
  readonly name?: string;
  /** What the server does without it, if it does. */
  readonly instead?: string;
}

const REVIEWS = '/apis/authorization.k8s.io/v1';

/** Whether the server may do, verb by verb, all that it does. */
export const permissions: Check = {
  name: 'permissions',
  title: 'Permissions',

  async run(context) {
    const required = permissionsOf(context);
    const allowed = await Promise.all(required.map((permission) => isAllowed(context, permission)));
    const account =
      context.doctor.serverAccount ?? (allowed.every(Boolean) ? undefined : await context.account());
    const isAllowedTo = (resource: string) =>
      required.some((permission, index) => permission.resource === resource && allowed[index]);
    return required.map((permission, index) => {
      const subject = `${permission.verb} ${permission.resource}${permission.name === undefined ? '' : ` ${permission.name}`}`;
      if (allowed[index]) return ok(subject, 'granted');
      if (permission.instead !== undefined && isAllowedTo('nodes/metrics')) {
        return note(subject, `not granted; ${permission.instead}`);
      }
      return missing(permission, { subject, account });
    });
  },
};

function permissionsOf({ options }: DoctorContext): readonly Permission[] {
  const kubelet = (resource: string, instead?: string): Permission => ({
    verb: 'get',
    group: '',
    resource,
    ...(instead !== undefined && { instead }),
  });
  const ofCluster = (resource: string, ...verbs: string[]): Permission[] =>
    verbs.map((verb) => ({ verb, group: '', resource }));
  const configMap = {
    group: '',
    resource: 'configmaps',
    namespace: 'kube-system',
    name: 'extension-apiserver-authentication',
  };
  const { metricsEndpoint } = options.kubelet;
  return [
    ...(metricsEndpoint === 'resource'
      ? []
      : [
          kubelet(
            'nodes/stats',
            metricsEndpoint === 'auto' ? 'kubelets are asked at /metrics/resource instead' : undefined,
          ),
        ]),
    ...(metricsEndpoint === 'summary' ? [] : [kubelet('nodes/metrics')]),
    ...ofCluster('nodes', 'list', 'watch'),
    ...ofCluster('pods', 'list', 'watch'),
    { verb: 'create', group: 'authentication.k8s.io', resource: 'tokenreviews' },
    { verb: 'create', group: 'authorization.k8s.io', resource: 'subjectaccessreviews' },
    ...['get', 'list', 'watch'].map((verb) => ({ verb, ...configMap })),
  ];
}

async function isAllowed(context: DoctorContext, { resource, ...permission }: Permission): Promise<boolean> {
  const [plural, subresource] = resource.split('/');
  const { verb, group, namespace, name } = permission;
  const resourceAttributes = { verb, group, resource: plural, subresource, namespace, name };
  const account = context.doctor.serverAccount;
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

function missing(
  { verb, group, resource, name }: Permission,
  { subject, account }: { readonly subject: string; readonly account: string | undefined },
): Finding {
  const qualified = group === '' ? resource : `${resource}.${group}`;
  return failed(subject, 'not granted', {
    diagnosis: 'permission-missing',
    ROLE: `metrics-server-${verb}-${resource.replace('/', '-')}`,
    VERB: verb,
    RESOURCE: name === undefined ? qualified : `${qualified} --resource-name=${name}`,
    ...(account !== undefined && { ACCOUNT: account }),
  });
}
