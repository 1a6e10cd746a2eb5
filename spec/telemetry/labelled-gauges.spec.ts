import { expect } from 'chai';
import { LabelledGauges } from '#lib/telemetry/sliced-registry.ts';

const newGauges = () => new LabelledGauges({ name: 'last_seconds', help: 'When.', label: 'node' });

describe('LabelledGauges', () => {
  it('formats the last value of each label', () => {
    const gauges = newGauges();
    gauges.set('a', 1);
    gauges.set('a', 2.5);
    gauges.set('b"', 3);
    expect([...gauges.slices()].join('')).to.equal(
      '# HELP last_seconds When.\n# TYPE last_seconds gauge\nlast_seconds{node="a"} 2.5\nlast_seconds{node="b\\""} 3\n',
    );
  });

  it('removes values that are no longer live', () => {
    const gauges = newGauges();
    for (const node of ['a', 'b']) gauges.set(node, 1);
    gauges.retain((node) => node === 'b');
    expect([...gauges.slices()].join('')).to.not.include('"a"');
  });
});
