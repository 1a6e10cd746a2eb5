import { expect } from 'chai';
import { Registry } from 'prom-client';
import { addProcessSeries } from '#lib/telemetry/process-series.ts';

describe('addProcessSeries', () => {
  it('adds series of the process, with counters named as such', async () => {
    const registry = new Registry();
    addProcessSeries(registry);
    const text = await registry.metrics();
    expect(text)
      .to.include('\nprocess_resident_memory_bytes ')
      .and.include('# TYPE nodejs_heap_size_used_bytes ');
    const gauges = [...text.matchAll(/^# TYPE (\S+) gauge$/gm)].map(([, name = '']) => name);
    expect(gauges.filter((name) => name.endsWith('_total'))).to.deep.equal([]);
  });
});
