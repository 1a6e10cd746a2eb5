import { expect } from 'chai';
import { ProtobufWriter } from '#lib/apiserver/encoding/protobuf-writer.ts';
import { metricsApiGroup } from '#lib/resource-metrics/api/metrics-api-group.ts';
import { RESOURCE_LIST, type Usage } from '#lib/resource-metrics/api/metrics-types.ts';
import type { ContainerUsage } from '#lib/resource-metrics/sink/snapshot.ts';
import { jsonOf, requestHttp1 } from '#spec/support/api-request.ts';
import { FakeMetricsSource, nodeUsage, podUsage } from '#spec/support/metrics-source.ts';
import { startTestApiServer } from '#spec/support/test-api-server.ts';

const CPU_AND_MEMORY = { cpuNanocores: 50_000_000, memoryBytes: 2048 };

const written = (usage: Usage) => {
  const message = new ProtobufWriter();
  RESOURCE_LIST.write(message, 4, usage);
  const names = Buffer.from(message.finish()).toString('latin1');
  return names.match(/cpu|ephemeral-storage|memory|swap/g);
};

describe('RESOURCE_LIST', () => {
  it('has CPU and memory', () => {
    expect(JSON.stringify(RESOURCE_LIST.json(CPU_AND_MEMORY))).to.equal('{"cpu":"50m","memory":"2Ki"}');
  });

  it('has all available extra resources, by name', () => {
    const extraBytes = { swap: 0, 'ephemeral-storage': 8192 };
    expect(JSON.stringify(RESOURCE_LIST.json({ ...CPU_AND_MEMORY, extraBytes }))).to.equal(
      '{"cpu":"50m","ephemeral-storage":"8Ki","memory":"2Ki","swap":"0"}',
    );
  });

  it('encodes the same in protobuf', () => {
    expect(written(CPU_AND_MEMORY)).to.deep.equal(['cpu', 'memory']);
    expect(written({ ...CPU_AND_MEMORY, extraBytes: { swap: 1, 'ephemeral-storage': 2 } })).to.deep.equal([
      'cpu',
      'ephemeral-storage',
      'memory',
      'swap',
    ]);
  });
});

interface Table {
  readonly columnDefinitions: readonly { readonly name: string }[];
  readonly rows: readonly { readonly cells: readonly unknown[] }[];
}

const using = (name: string, extraBytes?: ContainerUsage['extraBytes']): ContainerUsage => ({
  name,
  cpuNanocores: 50_000_000,
  memoryBytes: 2048,
  extraBytes,
});

/** Returns the first row of the Table for kubectl, by column. */
async function rowOf(resource: 'nodes' | 'pods', source: FakeMetricsSource): Promise<object> {
  await using server = await startTestApiServer({ groups: [metricsApiGroup(source)] });
  const { columnDefinitions, rows } = jsonOf<Table>(
    await requestHttp1({
      port: server.address.port,
      path: `/apis/metrics.k8s.io/v1beta1/${resource}`,
      headers: { accept: 'application/json;as=Table;g=meta.k8s.io;v=v1' },
    }),
  );
  return Object.fromEntries(columnDefinitions.map(({ name }, index) => [name, rows[0]?.cells[index]]));
}

describe('usageColumns', () => {
  const extraResources = ['ephemeral-storage', 'swap'];

  it('has a column for each served resource, sorted by name', async () => {
    const source = new FakeMetricsSource();
    source.serve(nodeUsage('a', { extraBytes: { swap: 0 } }));
    expect(Object.keys(await rowOf('nodes', source))).to.deep.equal(['Name', 'cpu', 'memory', 'Window']);
    const extended = Object.assign(source, { extraResources });
    expect(await rowOf('nodes', extended)).to.deep.equal({
      Name: 'a',
      cpu: '250m',
      'ephemeral-storage': '<unknown>',
      memory: '512Mi',
      swap: '0',
      Window: '15s',
    });
  });

  it('sums the containers of a pod if all have a value', async () => {
    const source = Object.assign(new FakeMetricsSource(), { extraResources });
    const containers = [
      using('app', { 'ephemeral-storage': 1024, swap: 4096 }),
      using('side', { 'ephemeral-storage': 1024 }),
    ];
    source.serve(podUsage('default', 'web', { containers }));
    expect(await rowOf('pods', source)).to.deep.include({
      'ephemeral-storage': '2Ki',
      swap: '<unknown>',
    });
  });
});
