import { expect } from 'chai';
import { autoscalerDiagnoses } from '#spec/support/autoscaler-diagnoses.ts';
import { created, examineAutoscaler, startExaminedAutoscaler } from '#spec/support/examined-autoscaler.ts';

const LEASE = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/autoscaler';

describe('runDoctor of the autoscaler', () => {
  it('reports no problem in a healthy cluster without objects, and the leader', async () => {
    await using server = await startExaminedAutoscaler();
    const { isSound, checks, findings } = await examineAutoscaler(server);
    expect(findings.filter(({ status }) => status !== 'ok')).to.deep.equal(
      Array(4).fill({ status: 'note', subject: 'cronhpas', seen: 'none exist' }),
    );
    expect(checks.filter((check) => check.findings.length === 0)).to.deep.equal([]);
    expect(isSound).to.equal(true);
    expect(checks.map(({ name }) => name)).to.deep.equal([
      ...['api-server', 'permissions', 'leader', 'cronhpa-definition', 'cronhpa-jobs', 'cronhpa-targets'],
      ...['cronhpa-ownership', 'cronhpa-activations'],
    ]);
    expect(findings).to.deep.include({
      status: 'ok',
      subject: 'lease kube-system/autoscaler',
      seen: 'held by pod-1, renewed 0 s ago',
    });
  });

  it('checks only enabled controllers, and no lease without controllers', async () => {
    await using server = await startExaminedAutoscaler();
    const { isSound, checks } = await examineAutoscaler(server, ['--controllers=']);
    expect(checks.map(({ name }) => name)).to.deep.equal(['api-server', 'permissions']);
    expect(isSound).to.equal(true);
  });

  it('reports a missing definition, and examines no objects then', async () => {
    await using server = await startExaminedAutoscaler();
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    await server.client.delete(`${path}/cronhorizontalpodautoscalers.autoscaling.stke.com`);
    const { isSound, diagnoses, findings } = await examineAutoscaler(server);
    expect(diagnoses).to.deep.equal(['cronhpa-definition-missing']);
    expect(findings.filter(({ status }) => status === 'unchecked')).to.deep.equal([]);
    expect(isSound).to.equal(false);
  });

  it('reports a chosen namespace that does not exist', async () => {
    await using server = await startExaminedAutoscaler();
    const { isSound, findings, diagnoses } = await examineAutoscaler(server, ['--namespace=nope']);
    expect(diagnoses).to.deep.equal(['namespace-absent']);
    expect(isSound).to.equal(false);
    expect(findings.find(({ status }) => status === 'failed')).to.include({
      subject: 'namespace nope',
      seen: 'not found',
      remedy:
        'Check the name of the namespace: `kubectl get namespaces`. If --namespace is not set, all namespaces are examined.',
    });
    const { isSound: isFound, findings: there } = await examineAutoscaler(server, ['--namespace=default']);
    expect(isFound).to.equal(true);
    expect(there.map(({ seen }) => seen)).to.include('exists; only objects in this namespace are examined');
  });

  it('reports a lease without a holder, and a missing one', async () => {
    await using server = await startExaminedAutoscaler();
    const patch = { spec: { holderIdentity: '' } };
    await server.client.patch(LEASE, 'merge', patch);
    expect((await examineAutoscaler(server)).diagnoses).to.deep.equal(['leader-absent']);
    await server.client.delete(LEASE);
    expect((await examineAutoscaler(server)).diagnoses).to.deep.equal(['leader-absent']);
  });

  it('reports a leader that has not renewed its lease', async () => {
    await using server = await startExaminedAutoscaler();
    await server.clock.advance(15_000);
    const { findings } = await examineAutoscaler(server);
    expect(findings.find(({ status }) => status === 'failed')).to.include({
      diagnosis: 'leader-silent',
      seen: 'held by pod-1, renewed 15 s ago',
    });
  });

  it('does not rely on a renewal in the future', async () => {
    await using server = await startExaminedAutoscaler();
    const leader = async () => {
      const { checks } = await examineAutoscaler(server);
      return checks.find(({ name }) => name === 'leader')?.findings[0];
    };
    const subject = 'lease kube-system/autoscaler';
    server.clock.stepWall(-14_000);
    expect(await leader()).to.deep.equal({ status: 'ok', subject, seen: 'held by pod-1, renewed 0 s ago' });
    server.clock.stepWall(-3_600_000);
    expect(await leader()).to.deep.equal({
      ...{ status: 'unchecked', subject },
      seen: 'held by pod-1, renewed 3614 s in the future: the clocks of the leader and this machine differ',
    });
  });

  it('reports each missing permission, with the commands that grant it', async () => {
    await using server = await startExaminedAutoscaler();
    const account = 'system:serviceaccount:kube-system:autoscaler';
    server.cluster.rbac.grant({
      name: 'autoscaler-events',
      role: 'autoscaler-events',
      users: [account],
      rules: [{ verbs: ['create', 'patch'], apiGroups: ['events.k8s.io'], resources: ['events'] }],
    });
    const { checks } = await examineAutoscaler(server, [`--server-account=${account}`]);
    const { findings = [] } = checks.find(({ name }) => name === 'permissions') ?? {};
    const failed = findings.filter(({ status }) => status === 'failed');
    expect(failed).to.have.length(16);
    expect(findings.filter(({ status }) => status === 'ok').map(({ subject }) => subject)).to.deep.equal([
      'create events',
      'patch events',
    ]);
    expect(failed.find(({ subject }) => subject === 'patch cronhorizontalpodautoscalers/status'))
      .to.have.property('remedy')
      .which.includes(
        'kubectl create clusterrole autoscaler-patch-cronhorizontalpodautoscalers-status --verb=patch ' +
          '--resource=cronhorizontalpodautoscalers.autoscaling.stke.com/status',
      )
      .and.includes(`--user=${account}`);
  });

  it('examines one namespace only when it is given', async () => {
    await using server = await startExaminedAutoscaler();
    for (const namespace of ['default', 'kube-system']) {
      await created(
        server,
        `/apis/autoscaling.stke.com/v1beta1/namespaces/${namespace}/cronhorizontalpodautoscalers`,
        {
          apiVersion: 'autoscaling.stke.com/v1beta1',
          kind: 'CronHorizontalPodAutoscaler',
          metadata: { name: 'web' },
          spec: {
            scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'none' },
            jobs: [{ name: 'up', schedule: '@daily', targetSize: 1 }],
          },
        },
      );
    }
    const { findings } = await examineAutoscaler(server, ['--namespace=kube-system']);
    const failed = findings.filter(({ status }) => status === 'failed');
    expect(failed.map(({ subject }) => subject)).to.deep.equal(['cronhpa kube-system/web']);
  });
});

describe('doctorParts', () => {
  it('have unique titles, and remedies in whole sentences', () => {
    const diagnoses = Object.values(autoscalerDiagnoses());
    expect(diagnoses.length).to.be.greaterThan(15);
    expect(new Set(diagnoses.map(({ title }) => title)).size).to.equal(diagnoses.length);
    for (const { title, remedy } of diagnoses) {
      expect(title).to.match(/^[A-Z].*[^.]$/);
      expect(remedy).to.match(/^[A-Z].*\.$/);
    }
  });
});
