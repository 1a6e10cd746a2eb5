import { expect } from 'chai';
import fc from 'fast-check';
import { Quantity, type QuantityFormat } from '#lib/kubernetes/exact-quantity.ts';
import { formatCpuNanocores, formatMemoryBytes } from '#lib/kubernetes/quantity.ts';

const canonical = (text: string) => Quantity.parse(text)?.toString();

describe('Quantity', () => {
  it('writes the canonical form of what it reads, as the API server does', () => {
    for (const [written, form] of [
      ['0', '0'],
      ['-0', '0'],
      ['0Ki', '0'],
      ['100m', '100m'],
      ['0.1', '100m'],
      ['.5', '500m'],
      ['1.', '1'],
      ['+1.50', '1500m'],
      ['1000m', '1'],
      ['1000', '1k'],
      ['1024', '1024'],
      ['1024Ki', '1Mi'],
      ['1.5Gi', '1536Mi'],
      ['1000Ki', '1000Ki'],
      ['0.5Ki', '512'],
      ['0.1Ki', '102400m'],
      ['1.0001Ki', '1024102400u'],
      ['12e6', '12e6'],
      ['1200e4', '12e6'],
      ['1E', '1E'],
      ['1E3', '1e3'],
      ['5e-4', '500e-6'],
      ['1e0', '1'],
      ['-1.5Ki', '-1536'],
      ['-2Mi', '-2Mi'],
    ] as const) {
      expect(canonical(written), written).to.equal(form);
    }
  });

  it('rounds what is finer than a billionth away from zero, and cuts what is too great', () => {
    for (const [written, form] of [
      ['0.1n', '1n'],
      ['-0.1n', '-1n'],
      ['1.0000000001', '1000000001n'],
      ['1e-100', '1e-9'],
      ['1e-999999999999', '1e-9'],
      ['0e999999999999', '0'],
      ['9223372036854775808', '9223372036854775807'],
      ['-10E', '-9223372036854775807'],
      ['8Ei', '9223372036854775807'],
      ['1e999999999999', '9223372036854775807'],
    ] as const) {
      expect(canonical(written), written).to.equal(form);
    }
  });

  it('is nothing that Kubernetes would not read', () => {
    for (const text of [
      ...[
        '',
        ' ',
        '+',
        '-',
        '.',
        '-.',
        '1 ',
        ' 1',
        '1K',
        '1ki',
        '1mi',
        '1i',
        '1.2.3',
        '--1',
        '1e',
        '1e+',
        '1e1.5',
      ],
      ...['e3', 'Ki', '1KiB', '0x10', '1_000', '١', 'NaN', 'Infinity', `${'1'.repeat(129)}`],
    ]) {
      expect(Quantity.parse(text), JSON.stringify(text)).to.equal(undefined);
    }
  });

  it('reads the longest texts, and refuses longer ones unread', () => {
    expect(canonical('9'.repeat(128))).to.equal('9223372036854775807');
    expect(canonical(`${'9'.repeat(100)}e-99`)).to.equal('10');
    expect(Quantity.parse(`1.${'0'.repeat(1_000_000)}`)).to.equal(undefined);
  });

  it('compares and adds exactly, whatever the formats', () => {
    const quantity = (text: string) => Quantity.parse(text) ?? expect.fail(text);
    expect(quantity('1Ki').compare(quantity('1024'))).to.equal(0);
    expect(quantity('1k').compare(quantity('1Ki'))).to.equal(-1);
    expect(quantity('1n').compare(quantity('0'))).to.equal(1);
    expect(`${quantity('100m').plus(quantity('0.2'))}`).to.equal('300m');
    expect(`${quantity('1Gi').plus(quantity('1M'))}`).to.equal('1074741824');
    expect(`${quantity('0').plus(quantity('1Gi'))}`).to.equal('1Gi');
    expect(`${quantity('8E').plus(quantity('8E'))}`).to.equal('9223372036854775807');
    expect(`${quantity('1Gi').plus(quantity('1Gi').negated())}`).to.equal('0');
  });

  const formats = fc.constantFrom<QuantityFormat>('DecimalSI', 'BinarySI', 'DecimalExponent');
  const limit = 10n ** 27n;
  const nanos = fc.oneof(
    fc.bigInt(-limit, limit),
    fc.integer({ min: -9, max: 9 }).map((one) => BigInt(one) * 10n ** 12n),
  );

  it('reads back what it writes', () => {
    fc.assert(
      fc.property(nanos, formats, (amount, format) => {
        const quantity = Quantity.ofNanos(amount, format);
        const read = Quantity.parse(quantity.toString());
        expect(read?.nanos).to.equal(quantity.nanos);
        // Without a suffix, nothing tells that it was binary.
        if (format !== 'BinarySI') expect(read?.toString()).to.equal(quantity.toString());
      }),
    );
  });

  it('orders as numbers do, and adds in any order', () => {
    fc.assert(
      fc.property(nanos, nanos, (a, b) => {
        const [first, second] = [Quantity.ofNanos(a), Quantity.ofNanos(b)];
        expect(Math.sign(first.compare(second))).to.equal(-second.compare(first) || 0);
        expect(first.plus(second).nanos).to.equal(second.plus(first).nanos);
      }),
    );
  });

  it('writes usage as the fast writers do', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (amount) => {
        const cpu = Quantity.ofNanos(BigInt(amount));
        expect(cpu.toString()).to.equal(formatCpuNanocores(amount));
        const memory = Quantity.ofNanos(BigInt(amount) * 1_000_000_000n, 'BinarySI');
        expect(memory.toString()).to.equal(formatMemoryBytes(amount));
      }),
    );
  });
});
