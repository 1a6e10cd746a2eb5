import { expect } from 'chai';
import { resourceTrigger } from '#lib/scaled-objects/triggers/cpu-memory.ts';
import type { TriggerRequest } from '#lib/scaled-objects/triggers/trigger.ts';
import { errorOf } from '#spec/support/error-of.ts';

const REQUEST: TriggerRequest = {
  type: 'cpu',
  scaler: 'cpuMemoryScaler',
  namespace: 'default',
  objectKind: 'ScaledObject',
  objectName: 'web',
  metricType: 'Utilization',
  hasFormula: false,
  metadata: { value: '60' },
  authentication: {},
  environment: {},
};

async function plan(resource: 'cpu' | 'memory', request: Partial<TriggerRequest> = {}) {
  return resourceTrigger(resource).plan({ ...REQUEST, ...request }, new AbortController().signal);
}

describe('resourceTrigger', () => {
  it('plans a resource metric of the HPA, with the target of its type', async () => {
    expect(await plan('cpu')).to.deep.equal({
      kind: 'resource',
      metric: {
        resource: 'cpu',
        containerName: undefined,
        target: { type: 'Utilization', averageUtilization: 60 },
      },
    });
    const metadata = { value: ' 512Mi ', containerName: 'app' };
    expect(await plan('memory', { metricType: 'AverageValue', metadata })).to.deep.equal({
      kind: 'resource',
      metric: {
        resource: 'memory',
        containerName: 'app',
        target: { type: 'AverageValue', averageValue: '512Mi' },
      },
    });
  });

  it('rejects a value of the wrong type, and other metric types', async () => {
    const refusal = (metricType: TriggerRequest['metricType'], value: string) =>
      errorOf(plan('cpu', { metricType, metadata: { value } }));
    for (const value of ['60%', '-1', '0.5', '2147483648'])
      expect(await refusal('Utilization', value)).to.match(/not a whole percentage$/);
    expect(await refusal('AverageValue', 'much')).to.match(/not a quantity$/);
    for (const metricType of ['Value', undefined] as const)
      expect(await refusal(metricType, '60')).to.match(/^unknown metric type: /);
    expect(await errorOf(plan('cpu', { metadata: { value: '60', type: 'Utilization' } }))).to.match(
      /Use 'metricType' instead/,
    );
  });
});
