import { expect } from 'chai';
import {
  appliedFields,
  appliedStatus,
  specChangedAt,
  statusManagers,
} from '#lib/kubernetes/objects/managed-fields.ts';

describe('appliedStatus', () => {
  const status = {
    size: 3,
    theirs: true,
    whole: { a: 1, b: [2] },
    conditions: [
      { type: 'Other', status: 'False' },
      { type: 'Ready', status: 'True', note: 'theirs' },
    ],
    names: ['x', 'y'],
    places: ['first', 'second'],
  };
  const of = (fields: object, entry: object = {}) => {
    const ours = {
      ...{ manager: 'us', operation: 'Apply', subresource: 'status' },
      ...{ fieldsV1: { 'f:status': fields }, ...entry },
    };
    return appliedStatus(
      { metadata: { name: 'a', managedFields: [{ manager: 'them' }, ours] }, status } as never,
      'us',
    );
  };

  it('extracts our fields, and whole values of leaves', () => {
    expect(of({ 'f:size': {}, 'f:whole': {} })).to.deep.equal({ size: 3, whole: { a: 1, b: [2] } });
    expect(of({ 'f:whole': { '.': {}, 'f:a': {} }, 'f:gone': {} })).to.deep.equal({ whole: { a: 1 } });
    expect(of({ 'f:whole': { '.': {} } })).to.deep.equal({ whole: { a: 1, b: [2] } });
  });

  it('extracts list items by key, by value, and by index', () => {
    const ready = { '.': {}, 'f:type': {}, 'f:status': {} };
    expect(
      of({
        'f:conditions': { 'k:{"type":"Ready"}': ready },
        'f:names': { '.': {}, 'v:"y"': {} },
        'f:places': { 'i:0': {} },
      }),
    ).to.deep.equal({ conditions: [{ type: 'Ready', status: 'True' }], names: ['y'], places: ['first'] });
  });

  it('extracts an item of a list with several keys by all of them', () => {
    const ports = [
      { port: 53, protocol: 'TCP' },
      { port: 53, protocol: 'UDP' },
    ];
    const fields = { 'f:ports': { 'k:{"port":53,"protocol":"UDP"}': {} } };
    const managedFields = [{ manager: 'us', operation: 'Apply', fieldsV1: { 'f:status': fields } }];
    const found = appliedStatus({ metadata: { name: 'a', managedFields }, status: { ports } } as never, 'us');
    expect(found).to.deep.equal({ ports: [{ port: 53, protocol: 'UDP' }] });
  });

  it('extracts nothing where another manager, an update, or another subresource has the fields', () => {
    const fields = { 'f:size': {} };
    for (const entry of [{ manager: 'them' }, { operation: 'Update' }, { subresource: 'scale' }]) {
      expect(of(fields, entry)).to.deep.equal({});
    }
  });

  it('extracts fields of entries without a subresource, as before Kubernetes 1.22', () => {
    expect(of({ 'f:size': {} }, { subresource: undefined })).to.deep.equal({ size: 3 });
  });

  it('finds nothing that is ours where we have applied nothing, or nothing of the status', () => {
    const metadata = { name: 'a', managedFields: [] };
    expect(appliedStatus({ metadata, status } as never, 'us')).to.deep.equal({});
    expect(of({}, { fieldsV1: { 'f:metadata': { 'f:labels': {} } } })).to.deep.equal({});
    expect(of({}, { fieldsV1: undefined })).to.deep.equal({});
  });

  it('is undefined for an object without managed fields', () => {
    expect(appliedStatus({ metadata: { name: 'a' } }, 'us')).to.equal(undefined);
  });
});

describe('appliedFields', () => {
  const object = { metadata: { name: 'a', labels: { ours: '1', theirs: '2' } }, spec: { size: 3, other: 4 } };
  const of = (...managedFields: readonly object[]) =>
    appliedFields({ ...object, metadata: { ...object.metadata, managedFields } } as never, 'us');
  const ours = {
    ...{ manager: 'us', operation: 'Apply' },
    fieldsV1: { 'f:metadata': { 'f:labels': { 'f:ours': {} } }, 'f:spec': { 'f:size': {} } },
  };

  it('extracts our fields of the object, without those of its status', () => {
    const status = { ...ours, subresource: 'status', fieldsV1: { 'f:spec': { 'f:other': {} } } };
    expect(of(status, ours)).to.deep.equal({ metadata: { labels: { ours: '1' } }, spec: { size: 3 } });
  });

  it('finds nothing that is ours where we have applied nothing', () => {
    expect([of(), of({ ...ours, manager: 'them' }), of({ ...ours, operation: 'Update' })]).to.deep.equal([
      {},
      {},
      {},
    ]);
  });

  it('is undefined for an object without managed fields', () => {
    expect(appliedFields(object as never, 'us')).to.equal(undefined);
  });
});

describe('statusManagers', () => {
  const time = '2026-01-01T00:00:00Z';

  it('returns the writers of a status with times, without writers of other fields', () => {
    const entry = (manager: string, more: object = {}) => ({ manager, operation: 'Update', time, ...more });
    const managers = statusManagers([
      entry('kubectl', { fieldsV1: { 'f:spec': {} } }),
      entry('kube-controller-manager', { subresource: 'status', time: '2026-01-01T00:00:07Z' }),
      entry('scaler', { subresource: 'scale' }),
      entry('old', { fieldsV1: { 'f:status': { 'f:replicas': {} } } }), // before Kubernetes 1.22
    ]);
    expect(managers).to.deep.equal([
      { manager: 'kube-controller-manager', writtenAtMs: Date.UTC(2026, 0, 1, 0, 0, 7) },
      { manager: 'old', writtenAtMs: Date.UTC(2026, 0, 1) },
    ]);
  });

  it('omits entries without a manager or time', () => {
    const written = { manager: 'a', subresource: 'status', time };
    const unreadable = [null, 'text', { ...written, manager: 7 }, { ...written, time: 7 }];
    expect(statusManagers([...unreadable, { ...written, time: 'yesterday' }])).to.deep.equal([]);
    expect(statusManagers([...unreadable, written])).to.have.lengthOf(1);
    expect([statusManagers(undefined), statusManagers({ ...written })]).to.deep.equal([[], []]);
  });
});

const CREATED = '2026-07-15T08:00:00Z';

describe('specChangedAt', () => {
  it('is the last change of the spec by any manager', () => {
    const managedFields = [
      changed('f:spec', '2026-07-15T08:10:00Z'),
      changed('f:spec', '2026-07-15T08:30:00Z'),
      changed('f:spec', '2026-07-15T08:20:00Z'),
      changed('f:status', '2026-07-15T08:40:00Z'),
      changed('f:metadata', '2026-07-15T08:50:00Z'),
    ];
    expect(reported({ generation: 3, managedFields })).to.equal('2026-07-15T08:30:00.000Z');
  });

  it('is not before the creation, as for a restored object', () => {
    const managedFields = [changed('f:spec', '2025-01-01T00:00:00Z')];
    expect(reported({ generation: 1, managedFields })).to.equal('2026-07-15T08:00:00.000Z');
  });

  it('is the creation of an unchanged object without managers', () => {
    expect(reported({ generation: 1 })).to.equal('2026-07-15T08:00:00.000Z');
    expect(reported({ generation: 1, managedFields: [] })).to.equal('2026-07-15T08:00:00.000Z');
  });

  it('is undefined without managers or times', () => {
    for (const metadata of [
      { generation: 2 },
      { generation: 2, managedFields: 'none' },
      { generation: 1, managedFields: [changed('f:spec', 'soon')] },
      { generation: 1, managedFields: [{ fieldsV1: { 'f:spec': {} } }] },
      { generation: 1, creationTimestamp: 'then' },
      { generation: 1, creationTimestamp: undefined },
    ])
      expect(reported(metadata), JSON.stringify(metadata)).to.equal(undefined);
  });
});

function reported(metadata: Parameters<typeof specChangedAt>[0]): string | undefined {
  const atMs = specChangedAt({ creationTimestamp: CREATED, ...metadata });
  return atMs === undefined ? undefined : new Date(atMs).toISOString();
}

function changed(field: string, time: string) {
  return { manager: 'kubectl', operation: 'Update', time, fieldsType: 'FieldsV1', fieldsV1: { [field]: {} } };
}
