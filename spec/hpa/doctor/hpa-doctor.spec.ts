import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import { hpaDoctor } from '#lib/hpa/doctor/hpa-doctor.ts';
import {
  created,
  EXAMINED_AT,
  examineAutoscaler,
  startExaminedAutoscaler,
} from '#spec/support/examined-autoscaler.ts';
import { startMetricsApis } from '#spec/support/metrics-apis.ts';
import type { SimulatedApiServer } from '#spec/support/simulated-api-server.ts';

const HPAS = '/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers';

describe('hpaDoctor', () => {
  let server: SimulatedApiServer;

  beforeEach(async () => {
    server = await startExaminedAutoscaler();
    await deployment('web', { cpu: '100m' });
    const target = { type: 'AverageValue', averageValue: '10' };
    await created(server, HPAS, {
      ...{ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'web' } },
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' },
        maxReplicas: 9,
        metrics: [{ type: 'External', external: { metric: { name: 'queue' }, target } }],
      },
    });
  });

  afterEach(() => server[Symbol.asyncDispose]());

  const deployment = (name: string, requests: object) => {
    const labels = { app: name };
    const containers = [{ name: 'main', image: 'web', resources: { requests } }];
    return created(server, '/apis/apps/v1/namespaces/default/deployments', {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name } },
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      },
    });
  };
  const hpaOf = (name: string, more: { readonly metadata?: object; readonly spec?: object }) =>
    created(server, HPAS, {
      ...{
        apiVersion: 'autoscaling/v2',
        kind: 'HorizontalPodAutoscaler',
        metadata: { name, ...more.metadata },
      },
      spec: {
        ...{ scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name }, maxReplicas: 9 },
        metrics: [
          {
            type: 'Resource',
            resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
          },
        ],
        ...more.spec,
      },
    });
  const foundOf = (findings: readonly { readonly subject: string }[], name: string) =>
    findings.filter(({ subject }) => subject === `hpa default/${name}`);
  const examine = () => examineAutoscaler(server, ['--controllers=hpa']);

  it('finds nothing wrong where metrics are served and nobody else decides', async () => {
    await using _metrics = await startMetricsApis(server.cluster);
    const { isSound, findings } = await examine();
    expect(isSound, JSON.stringify(findings)).to.equal(true);
    expect(findings).to.deep.include.members([
      { status: 'ok', subject: 'hpas', seen: 'nobody else has written the status of 1 HPA lately' },
      { status: 'ok', subject: 'external.metrics.k8s.io', seen: 'responds' },
    ]);
  });

  it('tells of a metrics API that an HPA needs and nobody serves', async () => {
    const { isSound, findings, diagnoses } = await examine();
    expect(isSound).to.equal(false);
    expect(diagnoses).to.deep.equal(['hpa-metrics-api-silent']);
    expect(findings.find(({ status }) => status === 'failed')?.subject).to.equal('external.metrics.k8s.io');
  });

  it('tells who writes the status of an HPA, too, until that was long ago', async () => {
    await using _metrics = await startMetricsApis(server.cluster);
    const path = `${HPAS}/web/status?fieldManager=kube-controller-manager`;
    const { status } = await server.client.patch(path, 'merge', {
      status: { desiredReplicas: 3, currentReplicas: 3 },
    });
    expect(status).to.equal(200);
    const { diagnoses, findings } = await examine();
    expect(diagnoses).to.deep.equal(['hpa-controlled-elsewhere']);
    expect(findings.find((one) => one.status === 'failed')?.seen).to.match(
      /^its status was written by kube-controller-manager \d+ s ago$/,
    );
    await server.clock.advance(46_000 + Math.max(0, Date.parse(EXAMINED_AT) - server.clock.nowMs()));
    expect((await examine()).diagnoses).not.to.include('hpa-controlled-elsewhere');
  });

  it('tells whose containers lack the requests that utilization is a part of, and not whose target needs none', async () => {
    await using _metrics = await startMetricsApis(server.cluster);
    await deployment('bare', { memory: '1Gi' });
    await hpaOf('bare', {});
    await deployment('full', { cpu: '100m' });
    await hpaOf('full', {});
    const container = {
      name: 'cpu',
      container: 'proxy',
      target: { type: 'Utilization', averageUtilization: 50 },
    };
    await hpaOf('other', {
      spec: {
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'full' },
        metrics: [{ type: 'ContainerResource', containerResource: container }],
      },
    });
    await deployment('absolute', {});
    const target = { type: 'AverageValue', averageValue: '1' };
    await hpaOf('absolute', { spec: { metrics: [{ type: 'Resource', resource: { name: 'cpu', target } }] } });
    await server.clock.advance(0);
    const { findings, diagnoses } = await examine();
    expect(diagnoses).to.deep.equal(['hpa-request-missing', 'hpa-request-missing']);
    const [bare] = foundOf(findings, 'bare');
    expect(bare)
      .to.have.property('seen')
      .that.matches(/^missing request for cpu in container main of Pod bare-/);
    expect(bare)
      .to.have.property('remedy')
      .that.matches(
        /^Give each container of bare \(Deployment in default\) a request for cpu, sidecars included/,
      );
    expect(foundOf(findings, 'other')[0])
      .to.have.property('seen')
      .that.matches(/^no container proxy in Pod full-/);
    for (const name of ['full', 'absolute'])
      expect(foundOf(findings, name)[0]).to.have.property('status', 'ok');
  });

  it('tells of targets that are not there, or cannot be scaled, and of what an HPA itself says', async () => {
    await using _metrics = await startMetricsApis(server.cluster);
    await hpaOf('gone', {});
    await hpaOf('settings', {
      spec: { scaleTargetRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings' } },
    });
    await hpaOf('strange', {
      spec: { scaleTargetRef: { apiVersion: 'a.example/v1', kind: 'B', name: 'c' } },
    });
    await deployment('mute', { cpu: '100m' });
    await hpaOf('mute', {});
    const said = { reason: 'FailedGetResourceMetric', message: 'no metrics returned' };
    const conditions = [{ type: 'ScalingActive', status: 'False', lastTransitionTime: EXAMINED_AT, ...said }];
    const path = `${HPAS}/mute/status?fieldManager=autoscaler-hpa`;
    const status = { currentReplicas: 2, desiredReplicas: 2, conditions };
    expect((await server.client.patch(path, 'merge', { status })).status).to.equal(200);
    const { findings, diagnoses } = await examine();
    expect([...diagnoses].sort()).to.deep.equal([
      ...['hpa-cannot-decide', 'hpa-target-missing', 'hpa-target-not-scalable', 'hpa-target-not-scalable'],
    ]);
    expect(foundOf(findings, 'mute')[0]).to.have.property(
      'seen',
      'FailedGetResourceMetric: no metrics returned',
    );
    expect(foundOf(findings, 'gone')[0]).to.have.property('seen', 'there is no Deployment "gone"');
    expect(foundOf(findings, 'settings')[0]).to.have.property('seen').that.contains('no scale subresource');
    expect(foundOf(findings, 'strange')[0]).to.have.property('seen').that.contains('nothing serves its kind');
  });

  it('names the other HPA that scales the same pods, and says that one of them has to go', async () => {
    await using _metrics = await startMetricsApis(server.cluster);
    await deployment('shared', { cpu: '100m' });
    await hpaOf('shared', {});
    const message =
      'pods by selector app=shared are controlled by multiple HPAs: [default/older default/shared]';
    const said = { reason: 'AmbiguousSelector', message };
    const conditions = [{ type: 'ScalingActive', status: 'False', lastTransitionTime: EXAMINED_AT, ...said }];
    const path = `${HPAS}/shared/status?fieldManager=autoscaler-hpa`;
    const status = { currentReplicas: 2, desiredReplicas: 2, conditions };
    expect((await server.client.patch(path, 'merge', { status })).status).to.equal(200);
    const { findings, diagnoses } = await examine();
    expect(diagnoses).to.deep.equal(['hpa-ambiguous-selector']);
    expect(foundOf(findings, 'shared')[0])
      .to.have.property('remedy')
      .that.matches(/^HPA shared scales the same pods as default\/older: one of them has to go/);
  });

  it('looks at each permission that the manifests give the HPA controller by name', () => {
    const documents = parseAllDocuments(readFileSync('manifests/components/hpa/rbac.yaml', 'utf8'));
    const given = documents
      .map((document) => document.toJS())
      .find(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'autoscaler-hpa')
      .rules.flatMap(
        (rule: Record<'apiGroups' | 'resources' | 'resourceNames' | 'verbs', readonly string[]>) =>
          rule.apiGroups.flatMap((group) =>
            rule.resources.flatMap((resource) =>
              rule.verbs.flatMap((verb) =>
                (rule.resourceNames ?? ['']).map((name) => `${verb} ${resource}.${group} ${name}`),
              ),
            ),
          ),
      )
      .filter((one: string) => !one.includes(' *.')); // which metrics there are, nobody can name
    const { permissions } = hpaDoctor({ syncPeriodMs: 15_000, namespace: undefined });
    const examined = permissions.map(
      ({ verb, group, resource, name = '' }) => `${verb} ${resource}.${group} ${name}`,
    );
    expect(given).to.include('delete configmaps. autoscaler-hpa-memory-4');
    expect(examined).to.have.members(given);
  });

  it('tells of annotations that count for nothing', async () => {
    await using _metrics = await startMetricsApis(server.cluster);
    await deployment('odd', { cpu: '100m' });
    const annotations = {
      'platform.stke/resync-period': '5',
      'autoscaling.stke.com/auto-min-replicas-lowest': 'few',
    };
    await hpaOf('odd', { metadata: { annotations } });
    const { findings, diagnoses } = await examine();
    expect(diagnoses).to.deep.equal(['hpa-annotation-invalid', 'hpa-annotation-invalid']);
    expect(
      foundOf(findings, 'odd').map((one) => (one as { readonly seen?: string }).seen),
    ).to.include.members([
      'the annotation platform.stke/resync-period "5" is no duration from 1s to 24h; 15s is used',
      'the annotation autoscaling.stke.com/auto-min-replicas-lowest "few" must be a whole number from 1 to 2147483647',
    ]);
  });
});
