import { loadSync, type MethodDefinition, type ServiceDefinition } from '@grpc/proto-loader';
import { expect } from 'chai';
import fc from 'fast-check';
import { ExternalScaler, file_external_scaler } from '#lib/sources/external-scaler/external-scaler_pb.ts';
import {
  decodeIsActive,
  decodeMetricSpecs,
  decodeMetricValues,
  encodeMetricsRequest,
  encodeObjectRef,
} from '#lib/sources/external-scaler/messages.ts';

/** The service, as another implementation of protobuf parses its definition. */
const definition = loadSync('lib/sources/external-scaler/external-scaler.proto', {
  longs: Number,
  defaults: true,
});
const service = definition['externalscaler.ExternalScaler'] as ServiceDefinition;
const method = (name: string) => service[name] as MethodDefinition<object, object>;

const names = fc.string({ unit: 'grapheme', maxLength: 20 });

describe('external-scaler_pb.ts', () => {
  it('is generated from external-scaler.proto as it is', () => {
    const types = Object.values(definition).flatMap((one) =>
      'type' in one ? [one.type as ProtoMessage] : [],
    );
    const described = types.map(({ name, field }) => ({
      name,
      fields: field.map(({ name, number }) => ({ name, number })),
    }));
    const generated = file_external_scaler.messages.map(({ name, fields }) => ({
      name,
      fields: fields.map(({ name, number }) => ({ name, number })),
    }));
    expect(generated).to.deep.equal(described);
    const calls = ExternalScaler.methods.map(({ name, methodKind }) => [
      name,
      methodKind === 'server_streaming',
    ]);
    expect(calls).to.deep.equal(
      Object.entries(service).map(([name, { responseStream }]) => [name, responseStream]),
    );
  });
});

describe('encodeObjectRef and encodeMetricsRequest', () => {
  const objects = fc.record({
    name: names,
    namespace: names,
    metadata: fc.dictionary(names, names, { noNullPrototype: true }),
    secrets: fc.constant([]),
  });

  it('write what another implementation reads', () => {
    fc.assert(
      fc.property(objects, names, (object, metricName) => {
        const { name, namespace, metadata } = object;
        const reference = { name, namespace, scalerMetadata: metadata };
        expect(method('IsActive').requestDeserialize(encodeObjectRef(object))).to.deep.equal(reference);
        const request = encodeMetricsRequest({ object, metricName });
        const expected = { scaledObjectRef: reference, metricName };
        expect(method('GetMetrics').requestDeserialize(request)).to.deep.equal(expected);
      }),
    );
  });

  it('write keys of metadata that objects have already', () => {
    const metadata = JSON.parse('{"__proto__": "a", "constructor": "b"}');
    const bytes = encodeObjectRef({ name: '', namespace: '', metadata, secrets: [] });
    const entry = (key: string, value: string) =>
      `\x1a${String.fromCharCode(key.length + 5)}\n${String.fromCharCode(key.length)}${key}\x12\x01${value}`;
    expect(bytes.toString('latin1')).to.equal(entry('__proto__', 'a') + entry('constructor', 'b'));
  });
});

describe('decodeIsActive', () => {
  it('reads whether an object is active', () => {
    expect(decodeIsActive(Uint8Array.of(8, 1))).to.equal(true);
    expect(decodeIsActive(Uint8Array.of())).to.equal(false);
  });

  it('skips fields that it does not have', () => {
    expect(decodeIsActive(Uint8Array.of(0x12, 2, 8, 0, 0x18, 5, 8, 1))).to.equal(true);
  });

  it('refuses a message far beyond the limit without decoding it', () => {
    const long = new Uint8Array(1_048_576).fill(0x12).map((byte, index) => (index % 2 ? 0 : byte));
    expect(() => decodeIsActive(long)).to.throw('IsActiveResponse has 1048576 bytes, more than 1024');
  });

  it('refuses a result of another type', () => {
    for (const bytes of [
      [0x0a, 1, 1],
      [0x0d, 1, 0, 0, 0],
      [0x09, 1, 0, 0, 0, 0, 0, 0, 0],
    ])
      expect(() => decodeIsActive(Uint8Array.from(bytes))).to.throw('field result has wire type');
  });
});

describe('decodeMetricSpecs and decodeMetricValues', () => {
  const numbers = fc.record({
    whole: fc.maxSafeInteger(),
    float: fc.oneof(fc.constant(0), fc.double({ noNaN: true, noDefaultInfinity: true })),
  });
  const metrics = fc.array(fc.tuple(names, numbers), { maxLength: 100 });

  it('read what another implementation writes, a double before an integer', () => {
    fc.assert(
      fc.property(metrics, (list) => {
        const specs = list.map(([metricName, { whole, float }]) => ({
          metricName,
          targetSize: whole,
          targetSizeFloat: float,
        }));
        const values = list.map(([metricName, { whole, float }]) => ({
          metricName,
          metricValue: whole,
          metricValueFloat: float,
        }));
        const expected = list.map(([name, { whole, float }]) => ({
          name,
          target: float === 0 ? whole : float,
        }));
        const specsOnTheWire = method('GetMetricSpec').responseSerialize({ metricSpecs: specs });
        expect(decodeMetricSpecs(specsOnTheWire)).to.deep.equal(expected);
        const valuesOnTheWire = method('GetMetrics').responseSerialize({ metricValues: values });
        expect(decodeMetricValues(valuesOnTheWire)).to.deep.equal(expected.map(({ target }) => target));
      }),
    );
  });

  for (const decode of [decodeMetricSpecs, decodeMetricValues]) {
    it(`${decode.name} refuses more than 100, as many as there may be`, () => {
      const empty = (count: number) => Buffer.from('\n\0'.repeat(count), 'latin1');
      expect(decode(empty(100))).to.have.length(100);
      for (const count of [101, 524_288])
        expect(() => decode(empty(count))).to.throw('the response has more than 100 metrics');
    });

    it(`${decode.name} refuses a name of more than 1,000 bytes`, () => {
      const named = (bytes: number) => {
        const metricName = 'a'.repeat(bytes);
        return decode === decodeMetricSpecs
          ? method('GetMetricSpec').responseSerialize({ metricSpecs: [{ metricName }] })
          : method('GetMetrics').responseSerialize({ metricValues: [{ metricName }] });
      };
      expect(decode(named(1000))).to.have.length(1);
      expect(() => decode(named(1001))).to.throw('a name is longer than 1000 bytes');
    });

    it(`${decode.name} refuses groups, alone and in a metric, however deep they nest`, () => {
      const groups = Buffer.alloc(1_000_000, 0x0b);
      const length = Buffer.of(0xc0, 0x84, 0x3d); // 1,000,000
      for (const bytes of [groups, Buffer.of(0x0c), Buffer.concat([Buffer.of(0x0a), length, groups])])
        expect(() => decode(bytes)).to.throw('not a valid proto3 message');
    });

    it(`${decode.name} refuses numbers and names of another type`, () => {
      for (const metric of [
        [0x08, 1],
        [0x12, 1, 1],
        [0x11, 0, 0, 0, 0, 0, 0, 0, 0],
        [0x18, 1],
        [0x1d, 0, 0, 0, 0],
      ])
        expect(() => decode(Uint8Array.from([0x0a, metric.length, ...metric])), `${metric}`).to.throw(
          'has wire type',
        );
    });
  }
});

for (const decode of [decodeIsActive, decodeMetricSpecs, decodeMetricValues])
  describe(decode.name, () => {
    it('refuses a truncated message with an error of its own', () => {
      for (const bytes of [[10], [10, 200], [8]].map((one) => Uint8Array.from(one))) {
        try {
          decode(bytes);
        } catch (error) {
          expect(error).to.have.property('constructor', Error);
          continue;
        }
        expect(bytes, `${decode.name} reads [${bytes}]`).to.deep.equal(undefined);
      }
    });
  });

interface ProtoMessage {
  readonly name: string;
  readonly field: readonly { readonly name: string; readonly number: number }[];
}
