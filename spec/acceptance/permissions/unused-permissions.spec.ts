import { expect } from 'chai';
import { objectsIn } from '#spec/support/manifest-objects.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';
import type { AuditEvent } from '../control-plane/audit-log.ts';
import { EXPLANATIONS } from './explained-permissions.ts';
import { grantedPermissions } from './granted-permissions.ts';
import { manifestPermissions, recordRequests, unexplainedPermissions } from './recorded-requests.ts';
import { formatPermission, permittedRequests, unusedPermissions } from './unused-permissions.ts';

const MANIFEST = `
{kind: ClusterRole, metadata: {name: wide}, rules: [
  {apiGroups: ["", apps], resources: [pods, deployments/scale], verbs: [get, list]},
  {apiGroups: [custom.metrics.k8s.io], resources: ["*"], verbs: [get]}]}
---
{kind: ClusterRoleBinding, metadata: {name: wide}, roleRef: {kind: ClusterRole, name: wide}, subjects: [{name: a, namespace: s}]}
---
{kind: Role, metadata: {name: one, namespace: keda}, rules: [
  {apiGroups: [coordination.k8s.io], resources: [leases], resourceNames: [x, y], verbs: [get]}]}
---
{kind: RoleBinding, metadata: {name: one, namespace: keda}, roleRef: {kind: Role, name: one}, subjects: [{name: a, namespace: s}]}
---
{kind: RoleBinding, metadata: {name: r, namespace: kube-system}, roleRef: {kind: Role, name: extension-apiserver-authentication-reader},
  subjects: [{name: a, namespace: s}]}
`;

const event = (verb: string, resource: string, more: Partial<AuditEvent> = {}): AuditEvent => ({
  ...{ user: 'system:serviceaccount:s:a', verb, resource, namespace: undefined, name: undefined },
  ...{ status: 200, isComplete: true, id: '', receivedAtMs: 0, reachedAtMs: 0, ...more },
});

describe('unusedPermissions', () => {
  const unused = (...events: readonly AuditEvent[]) =>
    unusedPermissions(grantedPermissions(objectsIn(MANIFEST)), permittedRequests(events)).map(
      formatPermission,
    );
  const all = unused();

  it('returns each verb, resource and name if nothing was requested', () => {
    expect(all).to.have.lengthOf(8 + 1 + 2 + 3);
    expect(all).to.include.members([
      's:a: list deployments/scale.apps (wide)',
      's:a: get *.custom.metrics.k8s.io (wide)',
      's:a: get leases.coordination.k8s.io x in keda (one)',
      's:a: watch configmaps extension-apiserver-authentication in kube-system (extension-apiserver-authentication-reader)',
    ]);
  });

  it('omits permissions that a request used, whether or not its object existed', () => {
    for (const [request, taken] of [
      [event('list', 'pods'), 's:a: list pods (wide)'],
      [event('get', 'pods.custom.metrics.k8s.io', { name: '*' }), 's:a: get *.custom.metrics.k8s.io (wide)'],
      [
        event('get', 'leases.coordination.k8s.io', { namespace: 'keda', name: 'x', status: 404 }),
        's:a: get leases.coordination.k8s.io x in keda (one)',
      ],
    ] as const)
      expect(unused(request)).to.deep.equal(all.filter((one) => one !== taken));
  });

  it('ignores refused requests and those of other accounts, namespaces and names', () => {
    const lease = { namespace: 'keda', name: 'x' };
    for (const request of [
      event('list', 'pods', { status: 403 }),
      event('list', 'pods', { user: 'system:serviceaccount:s:b' }),
      event('list', 'pods', { user: 'admin' }),
      event('watch', 'pods'),
      event('list', 'pods.apps.other'),
      event('get', 'leases.coordination.k8s.io', { ...lease, namespace: 'default' }),
      event('get', 'leases.coordination.k8s.io', { ...lease, name: 'z' }),
      event('get', 'leases.coordination.k8s.io', { namespace: 'keda' }),
    ])
      expect(unused(request), JSON.stringify(request)).to.deep.equal(all);
  });

  it('refuses a binding whose role does not exist', () => {
    const binding =
      '{kind: RoleBinding, metadata: {name: r}, roleRef: {kind: Role, name: gone}, subjects: [{name: a}]}';
    expect(() => grantedPermissions(objectsIn(binding))).to.throw('Cannot find Role gone');
  });
});

describe('unexplainedPermissions', () => {
  it('returns granted permissions that neither a recorded request nor a reason explains', async () => {
    await using folder = await TemporaryDirectory.create();
    const user = 'system:serviceaccount:kube-system:autoscaler';
    await recordRequests(folder.path, [event('list', 'pods', { user }), event('list', 'pods', { user })]);
    await recordRequests(folder.path, [event('list', 'limitranges', { user })]);
    const found = (await unexplainedPermissions(folder.path)).map(formatPermission);
    expect(found).to.include(
      'kube-system:autoscaler: get leases.coordination.k8s.io operator.keda.sh in keda (autoscaler-keda-lease)',
    );
    expect(found).to.include('kube-system:metrics-server: list nodes (system:metrics-server)');
    // An explanation for some names of a resource covers no other names.
    expect(found).to.include('kube-system:autoscaler: create configmaps (autoscaler-hpa)');
    for (const used of ['list pods', 'list limitranges', 'update scaledobjects/finalizers.keda.sh'])
      expect(found.filter((one) => one.includes(`: ${used} (`) && one.includes('autoscaler'))).to.deep.equal(
        [],
      );
  });

  it('has reasons only for permissions that exist', async () => {
    const granted = await manifestPermissions();
    for (const { account, verbs, resources } of EXPLANATIONS)
      for (const resource of resources)
        for (const verb of verbs)
          expect(
            granted.some((one) => one.account === account && one.resource === resource && one.verb === verb),
            `${verb} ${resource}`,
          ).to.equal(true);
  });
});
