import { expect } from 'chai';
import { type Grant, Rbac } from '#simulator/access/rbac.ts';

describe('Rbac', () => {
  const alice = { username: 'alice', groups: ['dev', 'system:authenticated'] };
  const listPods = { verb: 'list', group: '', resource: 'pods' };
  const grantOf = (rule: Grant['rules'][number], rest: Partial<Grant> = {}): Grant => ({
    name: 'grant',
    role: 'role',
    users: ['alice'],
    rules: [rule],
    ...rest,
  });
  const podReader = { verbs: ['get', 'list'], apiGroups: [''], resources: ['pods'] };

  it('allows nothing without a grant', () => {
    expect(new Rbac().decide(alice, listPods)).to.deep.equal({ isAllowed: false });
  });

  it('allows everything to system:masters', () => {
    const master = { username: 'root', groups: ['system:masters'] };
    expect(new Rbac().decide(master, listPods)).to.deep.equal({ isAllowed: true });
  });

  it('gives the binding as the reason', () => {
    const reasonFor = (grant: Grant, namespace = 'shop') =>
      new Rbac([grant]).decide(alice, { ...listPods, namespace }).reason;
    expect(reasonFor(grantOf(podReader))).to.equal(
      'RBAC: allowed by ClusterRoleBinding "grant" of ClusterRole "role" to User "alice"',
    );
    expect(reasonFor(grantOf(podReader, { users: [], groups: ['dev'], namespace: 'shop' }))).to.equal(
      'RBAC: allowed by RoleBinding "grant/shop" of Role "role" to Group "dev"',
    );
  });

  it('checks verb, group, resource, subresource and name', () => {
    const rbac = new Rbac([grantOf({ ...podReader, resourceNames: ['a'] })]);
    const isAllowed = (request: object) => rbac.decide(alice, { ...listPods, ...request }).isAllowed;
    expect(isAllowed({ name: 'a' })).to.equal(true);
    for (const request of [
      {},
      { name: 'b' },
      { name: 'a', verb: 'delete' },
      { name: 'a', group: 'metrics.k8s.io' },
      { name: 'a', resource: 'nodes' },
      { name: 'a', subresource: 'log' },
    ]) {
      expect(isAllowed(request), JSON.stringify(request)).to.equal(false);
    }
  });

  it('limits a role binding to its namespace', () => {
    const rbac = new Rbac([grantOf(podReader, { namespace: 'shop' })]);
    expect(rbac.decide(alice, { ...listPods, namespace: 'shop' }).isAllowed).to.equal(true);
    expect(rbac.decide(alice, { ...listPods, namespace: 'other' }).isAllowed).to.equal(false);
    expect(rbac.decide(alice, listPods).isAllowed).to.equal(false);
  });

  it('matches paths exactly or by their beginning', () => {
    const rbac = new Rbac([grantOf({ verbs: ['get'], nonResourceURLs: ['/metrics', '/debug/*'] })]);
    const isAllowed = (path: string) => rbac.decide(alice, { verb: 'get', path }).isAllowed;
    expect(['/metrics', '/debug/x', '/metrics/x', '/'].map(isAllowed)).to.deep.equal([
      true,
      true,
      false,
      false,
    ]);
  });

  it('revokes grants, and replaces grants of the same name', () => {
    const rbac = new Rbac([grantOf(podReader)]);
    rbac.grant(grantOf({ ...podReader, verbs: ['get'] }));
    expect(rbac.decide(alice, listPods).isAllowed).to.equal(false);
    expect(rbac.decide(alice, { ...listPods, verb: 'get' }).isAllowed).to.equal(true);
    rbac.revoke('grant');
    expect(rbac.decide(alice, { ...listPods, verb: 'get' }).isAllowed).to.equal(false);
  });
});
