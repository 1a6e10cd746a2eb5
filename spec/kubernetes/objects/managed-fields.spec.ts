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

  it('takes the fields that are ours, and of those without any below them all', () => {
    expect(of({ 'f:size': {}, 'f:whole': {} })).to.deep.equal({ size: 3, whole: { a: 1, b: [2] } });
    expect(of({ 'f:whole': { '.': {}, 'f:a': {} }, 'f:gone': {} })).to.deep.equal({ whole: { a: 1 } });
    expect(of({ 'f:whole': { '.': {} } })).to.deep.equal({ whole: { a: 1, b: [2] } });
  });

  it('takes items of lists by their keys, by their value, and by their index', () => {
    const ready = { '.': {}, 'f:type': {}, 'f:status': {} };
    expect(
      of({
        'f:conditions': { 'k:{"type":"Ready"}': ready },
        'f:names': { '.': {}, 'v:"y"': {} },
        'f:places': { 'i:0': {} },
      }),
    ).to.deep.equal({ conditions: [{ type: 'Ready', status: 'True' }], names: ['y'], places: ['first'] });
  });

  it('takes an item of a list that has several keys by all of them', () => {
    const ports = [
      { port: 53, protocol: 'TCP' },
      { port: 53, protocol: 'UDP' },
    ];
    const fields = { 'f:ports': { 'k:{"port":53,"protocol":"UDP"}': {} } };
    const managedFields = [{ manager: 'us', operation: 'Apply', fieldsV1: { 'f:status': fields } }];
    const found = appliedStatus({ metadata: { name: 'a', managedFields }, status: { ports } } as never, 'us');
    expect(found).to.deep.equal({ ports: [{ port: 53, protocol: 'UDP' }] });
  });

  it('finds nothing that is ours where another manager, an update, or another subresource has it', () => {
    const fields = { 'f:size': {} };
    for (const entry of [{ manager: 'them' }, { operation: 'Update' }, { subresource: 'scale' }]) {
      expect(of(fields, entry)).to.deep.equal({});
    }
  });

  it('finds what is ours where the object does not tell by which subresource, as before Kubernetes 1.22', () => {
    expect(of({ 'f:size': {} }, { subresource: undefined })).to.deep.equal({ size: 3 });
  });

  it('finds nothing that is ours where we have applied nothing, or nothing of the status', () => {
    const metadata = { name: 'a', managedFields: [] };
    expect(appliedStatus({ metadata, status } as never, 'us')).to.deep.equal({});
    expect(of({}, { fieldsV1: { 'f:metadata': { 'f:labels': {} } } })).to.deep.equal({});
    expect(of({}, { fieldsV1: undefined })).to.deep.equal({});
  });

  it('does not know where the object does not tell whose its fields are', () => {
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

  it('takes what is ours of an object, and nothing that is ours in its status', () => {
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

  it('does not know where the object does not tell whose its fields are', () => {
    expect(appliedFields(object as never, 'us')).to.equal(undefined);
  });
});

describe('statusManagers', () => {
  const time = '2026-01-01T00:00:00Z';

  it('tells who has written a status and when, of those that have written nothing else of an object', () => {
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

  it('leaves out what does not tell who it was, or when', () => {
    const written = { manager: 'a', subresource: 'status', time };
    const unreadable = [null, 'text', { ...written, manager: 7 }, { ...written, time: 7 }];
    expect(statusManagers([...unreadable, { ...written, time: 'yesterday' }])).to.deep.equal([]);
    expect(statusManagers([...unreadable, written])).to.have.lengthOf(1);
    expect([statusManagers(undefined), statusManagers({ ...written })]).to.deep.equal([[], []]);
  });
});

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
