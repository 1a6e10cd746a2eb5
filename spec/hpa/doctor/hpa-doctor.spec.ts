import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parseAllDocuments } from 'yaml';
import type { Finding } from '#lib/doctor/check.ts';
import { hpaDoctor } from '#lib/hpa/doctor/hpa-doctor.ts';
import { refuseRequests } from '#simulator/api-server/faults.ts';
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

  it('reports no problem when metrics are served and no other controller writes', async () => {
    await using _metrics = await startMetricsApis(server.cluster);
    const { isSound, findings } = await examine();
    expect(isSound, JSON.stringify(findings)).to.equal(true);
    expect(findings).to.deep.include.members([
      { status: 'ok', subject: 'hpas', seen: 'no other controller has written the status of 1 HPA recently' },
      { status: 'ok', subject: 'external.metrics.k8s.io', seen: 'responds' },
    ]);
  });

  it('reports a missing metrics API that an HPA needs', async () => {
    const target = { type: 'AverageValue', averageValue: '1' };
    const metrics = [{ type: 'Pods', pods: { metric: { name: 'items' }, target } }];
    await hpaOf('items', { spec: { metrics } });
    const { isSound, findings, diagnoses } = await examine();
    expect(isSound).to.equal(false);
    expect(diagnoses.filter((one) => one === 'hpa-metrics-api-silent')).to.have.lengthOf(2);
    const silent = findings.filter(
      (one) => one.status === 'failed' && one.subject.endsWith('metrics.k8s.io'),
    );
    const why = 'the server could not find the requested resource (status 404)';
    expect(silent.map(lineOf)).to.deep.equal([
      `failed custom.metrics.k8s.io: Cannot get /apis/custom.metrics.k8s.io/v1beta1: ${why} [hpa-metrics-api-silent]`,
      `failed external.metrics.k8s.io: Cannot get /apis/external.metrics.k8s.io/v1beta1: ${why} [hpa-metrics-api-silent]`,
    ]);
    expect(silent[0]).to.deep.include({
      title: 'A metrics API that HPAs need does not respond',
      remedy:
        'Check custom.metrics.k8s.io in `kubectl get apiservices` and the logs of its server. HPAs that use its metrics do not scale down; HPAs that use only its metrics do not scale at all.',
    });
  });

  it('reports another writer of the status until its write is old', async () => {
    await using _metrics = await startMetricsApis(server.cluster);
    const path = `${HPAS}/web/status?fieldManager=kube-controller-manager`;
    const { status } = await server.client.patch(path, 'merge', {
      status: { desiredReplicas: 3, currentReplicas: 3 },
    });
    expect(status).to.equal(200);
    const { diagnoses, findings } = await examine();
    expect(diagnoses).to.deep.equal(['hpa-controlled-elsewhere']);
    expect(findings.find((one) => one.status === 'failed')?.seen).to.match(
      /^kube-controller-manager wrote the status of this HPA \d+ s ago$/,
    );
    await server.clock.advance(46_000 + Math.max(0, Date.parse(EXAMINED_AT) - server.clock.nowMs()));
    expect((await examine()).diagnoses).not.to.include('hpa-controlled-elsewhere');
  });

  it('reports missing requests for utilization metrics only', async () => {
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
    expect(diagnoses).to.have.members(['hpa-request-missing', 'hpa-container-missing']);
    const [bare] = foundOf(findings, 'bare');
    expect(bare)
      .to.have.property('seen')
      .that.matches(/^missing request for cpu in container main of Pod bare-/);
    expect(bare)
      .to.have.property('remedy')
      .that.matches(
        /^Set a request for cpu on each container of bare \(Deployment in default\), sidecars included/,
      );
    expect(foundOf(findings, 'other')[0])
      .to.have.property('seen')
      .that.matches(/^container proxy not found in Pod full-/);
    expect(foundOf(findings, 'other')[0])
      .to.have.property('remedy')
      .that.matches(/^Correct the container of the metric with `kubectl -n default edit hpa other`/);
    for (const name of ['full', 'absolute'])
      expect(foundOf(findings, name)[0]).to.have.property('status', 'ok');
  });

  it('reports missing and unscalable targets, and failing conditions', async () => {
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
    const response = { reason: 'FailedGetResourceMetric', message: 'no metrics returned' };
    const conditions = [
      { type: 'ScalingActive', status: 'False', lastTransitionTime: EXAMINED_AT, ...response },
    ];
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
    expect(foundOf(findings, 'gone')[0]).to.have.property(
      'seen',
      'deployments.apps "gone" not found in namespace default',
    );
    expect(foundOf(findings, 'settings')[0]).to.have.property('seen').that.contains('no scale subresource');
    expect(foundOf(findings, 'strange')[0])
      .to.have.property('seen')
      .that.contains('the API server does not serve its kind');
  });

  it('names other HPAs that scale the same pods', async () => {
    await using _metrics = await startMetricsApis(server.cluster);
    await deployment('shared', { cpu: '100m' });
    await hpaOf('shared', {});
    const message =
      'pods by selector app=shared are controlled by multiple HPAs: [default/older default/shared]';
    const response = { reason: 'AmbiguousSelector', message };
    const conditions = [
      { type: 'ScalingActive', status: 'False', lastTransitionTime: EXAMINED_AT, ...response },
    ];
    const path = `${HPAS}/shared/status?fieldManager=autoscaler-hpa`;
    const status = { currentReplicas: 2, desiredReplicas: 2, conditions };
    expect((await server.client.patch(path, 'merge', { status })).status).to.equal(200);
    const { findings, diagnoses } = await examine();
    expect(diagnoses).to.deep.equal(['hpa-ambiguous-selector']);
    expect(foundOf(findings, 'shared')[0])
      .to.have.property('remedy')
      .that.matches(/^HPA shared selects the same pods as default\/older: delete all but one/);
  });

  it('checks each permission of the manifests', () => {
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
      .filter((one: string) => !one.includes(' *.')); // metric names are unknown
    const { permissions } = hpaDoctor({ syncPeriodMs: 15_000, namespace: undefined });
    const examined = permissions.map(
      ({ verb, group, resource, name = '' }) => `${verb} ${resource}.${group} ${name}`,
    );
    expect(given).to.include('delete configmaps. autoscaler-hpa-memory-4');
    expect(examined).to.have.members(given);
  });

  it('names the annotations that are valid, and counts their HPAs', async () => {
    const { findings } = await examine();
    expect(findings.map(lineOf)).to.include(
      'ok annotations of the controller hpa (platform.stke/resync-period, autoscaling.stke.com/auto-min-replicas*): valid on 1 HPA',
    );
  });

  it('reports invalid annotations', async () => {
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
      'annotation platform.stke/resync-period "5" is not a duration from 1s to 24h; using 15s',
      'annotation autoscaling.stke.com/auto-min-replicas-lowest "few" must be an integer from 1 to 2147483647',
    ]);
  });

  it('reports the first problem of each HPA with its remedy', async () => {
    await using _metrics = await startMetricsApis(server.cluster);
    await wrongInAllWays();
    const { checks } = await examine();
    const reported = checks
      .filter(({ name }) => name.startsWith('hpa'))
      .map(({ name, title, findings }) => [`${name}: ${title}`, ...findings.map(lineOf)]);
    expect(reported).to.deep.equal([
      [
        'hpa-controllers: Controllers of HorizontalPodAutoscalers',
        'failed hpa default/elsewhere: kube-controller-manager wrote the status of this HPA 0 s ago [hpa-controlled-elsewhere]',
      ],
      [
        'hpa-metrics-apis: Metrics APIs that HorizontalPodAutoscalers need',
        'ok custom.metrics.k8s.io: responds',
        'ok external.metrics.k8s.io: responds',
        'ok metrics.k8s.io: responds',
      ],
      [
        'hpa-targets: Targets and metrics of HorizontalPodAutoscalers',
        'failed hpa default/bare: missing request for cpu in container main of Pod bare-… [hpa-request-missing]',
        'ok hpa default/elsewhere: scales Deployment "elsewhere", spec.replicas 2',
        'failed hpa default/gone: deployments.apps "gone" not found in namespace default [hpa-target-missing]',
        'failed hpa default/mute: FailedGetResourceMetric: no metrics returned [hpa-cannot-decide]',
        'ok hpa default/odd: scales Deployment "odd", spec.replicas 2',
        'note hpa default/off: ScalingDisabled: it has no replicas',
        'failed hpa default/settings: Cannot scale v1 ConfigMap default/settings: configmaps have no scale subresource [hpa-target-not-scalable]',
        'failed hpa default/shared: AmbiguousSelector: pods by selector app=a are controlled by multiple HPAs: [default/shared other/b default/c] [hpa-ambiguous-selector]',
        'failed hpa default/silent: no reason: no message [hpa-cannot-decide]',
        'failed hpa default/unsaid: AmbiguousSelector: pods are shared [hpa-cannot-decide]',
        'ok hpa default/web: scales Deployment "web", spec.replicas 2',
      ],
      [
        'hpa-annotations: Annotations of HorizontalPodAutoscalers',
        'failed hpa default/odd: annotation platform.stke/resync-period "5" is not a duration from 1s to 24h; using 15s [hpa-annotation-invalid]',
      ],
    ]);
    const helps = checks.flatMap(({ findings }) =>
      findings.flatMap((one) => (one.status === 'failed' ? [`${one.title}: ${one.remedy}`] : [])),
    );
    for (const help of [
      'Another controller manages an HPA: Disable the HPA controller of kube-controller-manager with --controllers=*,-horizontal-pod-autoscaler-controller (before Kubernetes 1.28 -horizontalpodautoscaling), or the HPA controller of this autoscaler with --controllers=*,-hpa. While kube-controller-manager writes the status of elsewhere in default, this autoscaler does not scale it.',
      "Containers of an HPA's target have no requests for a resource: Set a request for cpu on each container of bare (Deployment in default), sidecars included, or with a LimitRange. Utilization is relative to requests: without them, HPA bare cannot evaluate the metric and does not scale down. A target with averageValue needs no requests.",
      "An HPA's target does not exist: Create the target, or correct the scaleTargetRef: `kubectl -n default edit hpa gone`. Until then, the HPA does not scale.",
      'The metrics of an HPA cannot be evaluated: Check the metrics of the HPA with `kubectl -n default describe hpa mute`, and `/debug/hpa?namespace=default&name=mute` of the leader, which shows the values of each metric. The check "Values of collected metrics" has the cause where a custom or external metric is not served. While one metric fails, the HPA does not scale down; while all fail, it does not scale at all.',
      "The kind of an HPA's target cannot be scaled: Correct `apiVersion` and `kind` of the scaleTargetRef with `kubectl -n default edit hpa settings`, install the definition of ConfigMap, or add the scale subresource to its CustomResourceDefinition.",
      'Several HPAs scale the same pods: HPA shared selects the same pods as other/b, default/c: delete all but one, for example with `kubectl -n default delete hpa shared`; or, if they scale different targets, make the selectors of the targets disjoint. Until then none of them scales.',
      'An annotation of an HPA is invalid: Correct the annotation: `kubectl -n default edit hpa odd`; docs/reference/annotations.md lists the valid values. Until then, the default period is used, or minReplicas is not changed.',
    ])
      expect(helps).to.include(help);
  });

  it('reports missing permissions for metrics APIs, and that no API is needed', async () => {
    await using _metrics = await startMetricsApis(server.cluster);
    const refused = refuseRequests({ code: 403, reason: 'Forbidden' });
    server.cluster.apiServer.setFaults({
      serve: (request, context) =>
        request.path === '/apis/external.metrics.k8s.io/v1beta1'
          ? refused.serve(request, context)
          : context.next(),
    });
    expect((await examine()).findings.map(lineOf)).to.include(
      'note external.metrics.k8s.io: this account has no permission to request this API',
    );
    server.cluster.apiServer.setFaults();
    expect((await server.client.delete(`${HPAS}/web`)).status).to.equal(200);
    const { findings } = await examine();
    expect(findings.map(lineOf).filter((line) => line.startsWith('note'))).to.deep.equal([
      'note hpas: none exist',
      'note metrics APIs: no HPA needs one',
      'note hpas: none exist',
      'note hpas: none exist',
    ]);
  });

  it('examines one namespace only when it is given', async () => {
    await using _metrics = await startMetricsApis(server.cluster);
    const { findings } = await examineAutoscaler(server, ['--controllers=hpa', '--namespace=kube-system']);
    expect(findings.map(lineOf)).to.include('note hpas: none exist');
  });

  /** Creates HPAs, each with another fault. */
  async function wrongInAllWays(): Promise<void> {
    await deployment('bare', { memory: '1Gi' });
    await hpaOf('bare', {});
    await hpaOf('gone', {});
    await hpaOf('settings', {
      spec: { scaleTargetRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings' } },
    });
    const fixed = { type: 'AverageValue', averageValue: '1' };
    const more = {
      spec: { metrics: [{ type: 'Pods', pods: { metric: { name: 'items' }, target: fixed } }] },
    };
    const message =
      'pods by selector app=a are controlled by multiple HPAs: [default/shared other/b default/c]';
    for (const [name, condition, by] of [
      ['mute', { reason: 'FailedGetResourceMetric', message: 'no metrics returned' }, 'autoscaler-hpa'],
      ['silent', {}, 'autoscaler-hpa'],
      ['shared', { reason: 'AmbiguousSelector', message }, 'autoscaler-hpa'],
      ['unsaid', { reason: 'AmbiguousSelector', message: 'pods are shared' }, 'autoscaler-hpa'],
      ['off', { reason: 'ScalingDisabled', message: 'it has no replicas' }, 'autoscaler-hpa'],
      ['elsewhere', { status: 'True' }, 'kube-controller-manager'],
    ] as const) {
      await deployment(name, { cpu: '100m' });
      await hpaOf(name, more);
      const conditions = [
        { type: 'AbleToScale', status: 'True', lastTransitionTime: EXAMINED_AT, reason: 'a', message: 'b' },
        { type: 'ScalingActive', status: 'False', lastTransitionTime: EXAMINED_AT, ...condition },
      ];
      const path = `${HPAS}/${name}/status?fieldManager=${by}`;
      const status = { currentReplicas: 2, desiredReplicas: 2, conditions };
      expect((await server.client.patch(path, 'merge', { status })).status).to.equal(200);
    }
    const annotations = { 'platform.stke/resync-period': '5' };
    await deployment('odd', { cpu: '100m' });
    await hpaOf('odd', { metadata: { annotations }, ...more });
    await server.clock.advance(0);
  }
});

/** A finding on a line, without the parts that differ from pod to pod. */
function lineOf(finding: Finding): string {
  const diagnosis = finding.status === 'failed' ? ` [${finding.diagnosis}]` : '';
  return `${finding.status} ${finding.subject}: ${finding.seen.replace(/(Pod \w+-)[\w-]+/, '$1…')}${diagnosis}`;
}
