import { expect } from 'chai';
import { objectDocument } from '#lib/apiserver/resources/encode-object.ts';
import { bookmarkDocument, encodeEvent } from '#lib/apiserver/watch/event-encoder.ts';
import { ProtobufFields } from '#spec/support/protobuf-fields.ts';
import { Thing } from '#spec/support/served-things.ts';

const TYPE = { kind: 'Thing', apiVersion: 'lab.example/v1' };

describe('encodeEvent', () => {
  const thing = objectDocument(new Thing('a', { size: 7 }), TYPE);

  it('writes JSON on one line', () => {
    const text = encodeEvent('ADDED', thing, 'json').toString();
    expect(text.indexOf('\n')).to.equal(text.length - 1);
    expect(JSON.parse(text)).to.deep.equal({
      type: 'ADDED',
      object: { ...TYPE, metadata: { name: 'a', creationTimestamp: '2026-01-01T00:00:00Z' }, size: 7 },
    });
  });

  it('writes protobuf behind its length, the object in an envelope of its own', () => {
    const frame = encodeEvent('MODIFIED', thing, 'protobuf');
    expect(frame.readUInt32BE()).to.equal(frame.length - 4);
    const event = new ProtobufFields(frame.subarray(4));
    expect(event.text(1)).to.equal('MODIFIED');
    const raw = event.message(2)?.bytes(1) ?? Buffer.alloc(0);
    expect(raw.subarray(0, 4).toString('latin1')).to.equal('k8s\0');
    const unknown = new ProtobufFields(raw.subarray(4));
    expect([unknown.message(1)?.text(1), unknown.message(1)?.text(2)]).to.deep.equal([
      TYPE.apiVersion,
      TYPE.kind,
    ]);
    expect(unknown.message(2)?.message(1)?.text(1)).to.equal('a');
    expect(unknown.message(2)?.number(2)).to.equal(7);
  });
});

describe('bookmarkDocument', () => {
  it('is an object of nothing but a version, in both formats', () => {
    const bookmark = bookmarkDocument(TYPE, { resourceVersion: '42', isInitialEnd: true });
    expect(JSON.parse(encodeEvent('BOOKMARK', bookmark, 'json').toString()).object).to.deep.equal({
      ...TYPE,
      metadata: { resourceVersion: '42', annotations: { 'k8s.io/initial-events-end': 'true' } },
    });
    const event = new ProtobufFields(encodeEvent('BOOKMARK', bookmark, 'protobuf').subarray(4));
    const raw = event.message(2)?.bytes(1) ?? Buffer.alloc(0);
    const metadata = new ProtobufFields(raw.subarray(4)).message(2)?.message(1);
    expect(metadata?.text(6)).to.equal('42');
    expect(metadata?.message(12)?.text(1)).to.equal('k8s.io/initial-events-end');
  });
});
