import { expect } from 'chai';
import { ProtobufWriter } from '#lib/apiserver/encoding/protobuf-writer.ts';
import { RESOURCE_LIST, type Usage } from '#lib/resource-metrics/api/usage-types.ts';

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

  it('has whatever else is known, by name', () => {
    const extraBytes = { swap: 0, 'ephemeral-storage': 8192 };
    expect(JSON.stringify(RESOURCE_LIST.json({ ...CPU_AND_MEMORY, extraBytes }))).to.equal(
      '{"cpu":"50m","ephemeral-storage":"8Ki","memory":"2Ki","swap":"0"}',
    );
  });

  it('writes the same in protobuf', () => {
    expect(written(CPU_AND_MEMORY)).to.deep.equal(['cpu', 'memory']);
    expect(written({ ...CPU_AND_MEMORY, extraBytes: { swap: 1, 'ephemeral-storage': 2 } })).to.deep.equal([
      'cpu',
      'ephemeral-storage',
      'memory',
      'swap',
    ]);
  });
});
