import { expect } from 'chai';
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

  const examine = () => examineAutoscaler(server, ['--controllers=hpa']);

  it('finds nothing wrong where metrics are served and nobody else decides', async () => {
    await using _metrics = await startMetricsApis(server.cluster);
    const { isSound, findings } = await examine();
    expect(isSound, JSON.stringify(findings)).to.equal(true);
    expect(findings).to.deep.include.members([
      { status: 'ok', subject: 'hpas', seen: 'nobody else has written the status of 1 HPAs lately' },
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
});
