import { expect } from 'chai';
import { registeredSeries } from '#lib/scaled-objects/told/registered-series.ts';

describe('registeredSeries', () => {
  it('tells types apart that differ behind the end of a line, so that no series comes twice', () => {
    const object = (type: string) => ({
      metadata: { name: 'a', namespace: 'shop' },
      spec: { triggers: [{ type, metadata: {} }] },
    });
    const kinds = { scaled_object: { values: () => [object('a\nb'), object('a\nc'), object('a\nb')] } };
    const lines = [...registeredSeries({ kinds }).slices()].join('').split('\n');
    expect(lines.filter((line) => line.startsWith('keda_'))).to.deep.equal([
      'keda_trigger_registered_total{type="a\\nb"} 2',
      'keda_trigger_registered_total{type="a\\nc"} 1',
      'keda_resource_registered_total{type="scaled_object",namespace="shop"} 3',
    ]);
  });
});
