import { expect } from 'chai';
import { appliedStatus } from '#lib/control/status/applied-fields.ts';

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
