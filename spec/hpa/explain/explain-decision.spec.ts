import { expect } from 'chai';
import { decide } from '#lib/hpa/decision/decide.ts';
import type { DecisionInput } from '#lib/hpa/decision/decision.ts';
import { explainDecision } from '#lib/hpa/explain/explain-decision.ts';
import { builtInput, builtPod, NOW_MS } from '../built-world.ts';

type Changes = Parameters<typeof builtInput>[0];

const linesOf = (changes: Changes = {}): string[] =>
  explainDecision(decide(builtInput(changes)).explanation).split('\n');

const cpu = (amounts: Readonly<Record<string, string>>): DecisionInput['readings'][number] => ({
  podUsage: Object.entries(amounts).map(([pod, amount]) => ({
    ...{ pod, takenAtMs: NOW_MS - 20_000, windowMs: 30_000 },
    containers: [{ name: 'app', usage: { cpu: amount } }],
  })),
});
const metrics = [
  {
    type: 'Resource',
    resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 50 } },
  },
] as const;

describe('explainDecision', () => {
  it('tells the whole calculation', () => {
    const readings = [cpu({ 'web-0': '90m', 'web-1': '110m' })];
    const pods = [
      builtPod('web-0'),
      builtPod('web-1'),
      builtPod('web-2', { phase: 'Pending' }),
      builtPod('web-3', { isDeleting: true }),
    ];
    expect(linesOf({ spec: { metrics }, readings, pods })).to.deep.equal([
      '3 replicas, bounds 1 to 10: scales to 4',
      'cpu resource utilization (percentage of request): 100% (100m) of 50%, 20s old: asks for 4, which leads',
      '  ratio 2: outside of the tolerance',
      '  counts 2 pods; besides 1 not ready (web-2); 1 deleted or failed (web-3)',
      '  ratio 1.32 with what is assumed of those that are missing or not ready',
      '  scales up above 55%, down below 45%',
      'stabilization: 4, as the metrics ask (windows: up 0s, down 5m0s)',
      'limits: 4 is within them',
    ]);
  });

  it('tells what held it, and which policies', () => {
    const behavior = {
      scaleUp: {
        stabilizationWindowSeconds: 60,
        policies: [{ type: 'Pods', value: 1, periodSeconds: 15 }],
      },
    };
    const memory = {
      recommendations: [{ replicas: 6, atMs: NOW_MS - 30_000 }],
      scaleUpEvents: [],
      scaleDownEvents: [],
    };
    expect(linesOf({ spec: { behavior }, memory, readings: [{ values: ['80'] }] }).slice(-4)).to.deep.equal([
      '  scales up above 11, down below 9',
      'stabilization: 6 in place of 8, for 6 were recommended 30s ago (windows: up 1m0s, down 5m0s)',
      'limits: 4 in place of 6: ScaleUpLimit, the desired replica count is increasing faster than the maximum scale rate',
      '  policy Pods 1 in 15s: from 3 at the start of the period to 4',
    ]);
  });

  it('tells what is not known', () => {
    expect(linesOf({ readings: [{ error: 'gone' }] })).to.deep.equal([
      '3 replicas, bounds 1 to 10: stays, for metrics are missing',
      'external metric queue(nil): unknown: unable to get external metric default/queue/nil: unable to fetch metrics from external metrics API: gone',
      'problem: invalid metrics (1 invalid out of 1), first error is: failed to get queue external metric value: failed to get queue external metric: unable to get external metric default/queue/nil: unable to fetch metrics from external metrics API: gone',
    ]);
    expect(linesOf({ rivals: ['default/x'] })[0]).to.equal(
      '3 replicas, bounds 1 to 10: stays, for it is not clear which pods it scales',
    );
    expect(linesOf({ scale: { step: 'scale', message: 'gone' } })[0]).to.equal(
      'the scale of the target is not known; bounds 1 to 10',
    );
  });

  it('tells what decides before metrics do', () => {
    const at = (replicas: number): Changes => ({
      scale: { specReplicas: replicas, statusReplicas: replicas, selector: 'app=web' },
    });
    expect(linesOf(at(0))).to.deep.equal([
      '0 replicas, bounds 1 to 10: switched off, for the target has no replicas',
    ]);
    expect(linesOf(at(12))[0]).to.match(/scales to 10, the maximum, without/);
    expect(linesOf({ ...at(1), spec: { minReplicas: 2 } })[0]).to.match(/scales to 2, the minimum, without/);
  });

  it('names some of many pods', () => {
    const pods = Array.from({ length: 30 }, (_, place) => builtPod(`web-${place}`));
    const lines = linesOf({ spec: { metrics }, readings: [cpu({ 'web-0': '50m' })], pods });
    expect(lines[3]).to.match(
      /^ {2}counts 1 pods; besides 29 without a sample \(web-1, .*, web-20 and 9 more\)$/,
    );
  });
});
