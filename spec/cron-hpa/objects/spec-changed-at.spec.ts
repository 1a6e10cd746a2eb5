import { expect } from 'chai';
import { specChangedAt } from '#lib/cron-hpa/objects/spec-changed-at.ts';

const CREATED = '2026-07-15T08:00:00Z';

describe('specChangedAt', () => {
  it('is the last change of the spec by anybody', () => {
    const managedFields = [
      changed('f:spec', '2026-07-15T08:10:00Z'),
      changed('f:spec', '2026-07-15T08:30:00Z'),
      changed('f:spec', '2026-07-15T08:20:00Z'),
      changed('f:status', '2026-07-15T08:40:00Z'),
      changed('f:metadata', '2026-07-15T08:50:00Z'),
    ];
    expect(told({ generation: 3, managedFields })).to.equal('2026-07-15T08:30:00.000Z');
  });

  it('is not before the object was created, as it may be said of what was restored', () => {
    const managedFields = [changed('f:spec', '2025-01-01T00:00:00Z')];
    expect(told({ generation: 1, managedFields })).to.equal('2026-07-15T08:00:00.000Z');
  });

  it('is the creation where nothing has changed since, and nobody tells who made it', () => {
    expect(told({ generation: 1 })).to.equal('2026-07-15T08:00:00.000Z');
    expect(told({ generation: 1, managedFields: [] })).to.equal('2026-07-15T08:00:00.000Z');
  });

  it('is unknown where the server does not tell, or tells no time', () => {
    for (const metadata of [
      { generation: 2 },
      { generation: 2, managedFields: 'none' },
      { generation: 1, managedFields: [changed('f:spec', 'soon')] },
      { generation: 1, managedFields: [{ fieldsV1: { 'f:spec': {} } }] },
      { generation: 1, creationTimestamp: 'then' },
      { generation: 1, creationTimestamp: undefined },
    ])
      expect(told(metadata), JSON.stringify(metadata)).to.equal(undefined);
  });
});

function told(metadata: Parameters<typeof specChangedAt>[0]): string | undefined {
  const atMs = specChangedAt({ creationTimestamp: CREATED, ...metadata });
  return atMs === undefined ? undefined : new Date(atMs).toISOString();
}

function changed(field: string, time: string) {
  return { manager: 'kubectl', operation: 'Update', time, fieldsType: 'FieldsV1', fieldsV1: { [field]: {} } };
}
