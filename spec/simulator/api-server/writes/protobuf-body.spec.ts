import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { expect } from 'chai';
import fc from 'fast-check';
import { readProtobuf } from '#simulator/api-server/writes/protobuf-body.ts';

type Write = (writer: BinaryWriter) => void;

const text =
  (number: number, value: string): Write =>
  (writer) =>
    void writer.tag(number, WireType.LengthDelimited).string(value);
const integer =
  (number: number, value: number): Write =>
  (writer) =>
    void writer.tag(number, WireType.Varint).uint32(value);
const message =
  (number: number, ...fields: readonly Write[]): Write =>
  (writer) =>
    void writer.tag(number, WireType.LengthDelimited).bytes(encode(fields));

function encode(fields: readonly Write[]): Uint8Array<ArrayBuffer> {
  const writer = new BinaryWriter();
  for (const write of fields) write(writer);
  return writer.finish();
}

/** A body as client-go writes it. */
function bodyOf(apiVersion: string, kind: string, ...fields: readonly Write[]): Buffer {
  const envelope = encode([message(1, text(1, apiVersion), text(2, kind)), message(2, ...fields)]);
  return Buffer.concat([Buffer.from('k8s\0'), envelope]);
}

const deployment = (...spec: readonly Write[]) =>
  readProtobuf(bodyOf('apps/v1', 'Deployment', message(1, text(1, 'web')), message(2, ...spec)));

describe('readProtobuf', () => {
  it('reads fields, maps and lists, and leaves out empty text', () => {
    const entry = (key: string, value: string) => message(11, text(1, key), text(2, value));
    const metadata = message(1, text(1, 'web'), text(3, ''), entry('app', 'web'), entry('__proto__', 'x'));
    const containers = ['a', 'b'].map((name) => message(2, text(1, name)));
    const read = readProtobuf(
      bodyOf(
        'apps/v1',
        'Deployment',
        metadata,
        message(2, integer(1, 0), message(3, message(2, ...containers))),
      ),
    );
    expect(JSON.stringify(read)).to.equal(
      '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","labels":{"app":"web","__proto__":"x"}},' +
        '"spec":{"replicas":0,"template":{"spec":{"containers":[{"name":"a"},{"name":"b"}]}}}}',
    );
  });

  it('reads numbers of several bytes, and negative ones', () => {
    const negative: Write = (writer) => void writer.tag(1, WireType.Varint).int32(-1);
    expect(deployment(integer(1, 300))).to.have.nested.property('spec.replicas', 300);
    expect(deployment(negative)).to.have.nested.property('spec.replicas', -1);
  });

  it('refuses a field that it does not have, unless it is empty', () => {
    expect(deployment(integer(5, 0), text(99, ''))).to.have.nested.property('metadata.name', 'web');
    expect(deployment(integer(5, 1))).to.equal(undefined);
  });

  it('refuses another kind, and a malformed body', () => {
    expect(readProtobuf(bodyOf('v1', 'Node'))).to.equal(undefined);
    const whole = bodyOf('v1', 'Namespace', message(1, text(1, 'shop')));
    expect(readProtobuf(whole)).to.not.equal(undefined);
    expect(readProtobuf(whole.subarray(0, -1))).to.equal(undefined);
    expect(readProtobuf(whole.subarray(1))).to.equal(undefined);
  });

  it('returns for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        readProtobuf(Buffer.concat([Buffer.from('k8s\0'), bytes]));
      }),
    );
  });
});
