import { expect } from 'chai';
import fc from 'fast-check';
import {
  divideUp,
  formatBinaryThousandths,
  formatCpuNanocores,
  formatMemoryBytes,
  formatThousandths,
  formatValue,
  parseNanos,
  parseThousandths,
  Quantity,
  QuantityError,
  type QuantityFormat,
} from '#lib/kubernetes/quantity.ts';

const VALUE_OF_SUFFIX: Readonly<Record<string, bigint>> = {
  n: 1n,
  u: 10n ** 3n,
  m: 10n ** 6n,
  '': 10n ** 9n,
  k: 10n ** 12n,
  M: 10n ** 15n,
};

/** Integers of every magnitude, many of them round. */
const amounts = fc.oneof(
  fc.nat(),
  fc.maxSafeNat(),
  fc
    .tuple(fc.nat({ max: 5000 }), fc.constantFrom(1000, 1024), fc.nat({ max: 4 }))
    .map(([n, base, power]) => n * base ** power)
    .filter(Number.isSafeInteger),
);

describe('formatCpuNanocores', () => {
  const examples: readonly [number, string][] = [
    [0, '0'],
    [1, '1n'],
    [12_345_678, '12345678n'],
    [60_595_120, '60595120n'],
    [1_000, '1u'],
    [1_500_000, '1500u'],
    [50_000_000, '50m'],
    [1_000_000_000, '1'],
    [1_500_000_000, '1500m'],
    [2_000_000_000, '2'],
    [1_000_000_000_000, '1k'],
    [12.9, '12n'],
    [0.4, '0'],
  ];
  for (const [nanocores, text] of examples) {
    it(`writes ${nanocores} nanocores as ${text}`, () =>
      expect(formatCpuNanocores(nanocores)).to.equal(text));
  }

  it('loses nothing and never leaves a thousand that a suffix could hold', () => {
    fc.assert(
      fc.property(amounts, (nanocores) => {
        const [, mantissa = '', suffix = ''] = /^(\d+)([numkM]?)$/.exec(formatCpuNanocores(nanocores)) ?? [];
        expect(BigInt(mantissa) * (VALUE_OF_SUFFIX[suffix] ?? 0n)).to.equal(BigInt(nanocores));
        if (nanocores > 0) expect(mantissa.endsWith('000')).to.equal(false);
      }),
    );
  });
});

describe('formatMemoryBytes', () => {
  const examples: readonly [number, string][] = [
    [0, '0'],
    [1, '1'],
    [999, '999'],
    [1000, '1k'],
    [1023, '1023'],
    [1024, '1Ki'],
    [1025, '1025'],
    [2000, '2000'],
    [24_844 * 1024, '24844Ki'],
    [25 * 1024 ** 2, '25Mi'],
    [3 * 1024 ** 3, '3Gi'],
    [1024 ** 4, '1Ti'],
    [53_612_545, '53612545'],
  ];
  for (const [bytes, text] of examples) {
    it(`writes ${bytes} bytes as ${text}`, () => expect(formatMemoryBytes(bytes)).to.equal(text));
  }

  it('loses nothing and never leaves 1024 that a suffix could hold', () => {
    fc.assert(
      fc.property(
        amounts.filter((bytes) => bytes >= 1024),
        (bytes) => {
          const [, mantissa = '', suffix = ''] = /^(\d+)(|[KMGTPE]i)$/.exec(formatMemoryBytes(bytes)) ?? [];
          const power = BigInt(['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'].indexOf(suffix));
          expect(BigInt(mantissa) * 1024n ** power).to.equal(BigInt(bytes));
          expect(BigInt(mantissa) % 1024n === 0n).to.equal(false);
        },
      ),
    );
  });
});

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

  it('rounds fractions of a billionth away from zero, and caps large amounts', () => {
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

  const formats = fc.constantFrom<QuantityFormat>('DecimalSI', 'BinarySI', 'DecimalExponent');
  const limit = 10n ** 27n;
  const nanos = fc.oneof(
    fc.bigInt(-limit, limit),
    fc.integer({ min: -9, max: 9 }).map((one) => BigInt(one) * 10n ** 12n),
  );

  it('reads its own output', () => {
    fc.assert(
      fc.property(nanos, formats, (amount, format) => {
        const quantity = Quantity.ofNanos(amount, format);
        const read = Quantity.parse(quantity.toString());
        expect(read?.nanos).to.equal(quantity.nanos);
        // Without a suffix, the quantity does not show that it was binary.
        if (format !== 'BinarySI') expect(read?.toString()).to.equal(quantity.toString());
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

describe('parseNanos', () => {
  const NANOS: Readonly<Record<string, bigint>> = {
    '0': 0n,
    '1': 10n ** 9n,
    '+1': 10n ** 9n,
    '-1': -(10n ** 9n),
    '1.': 10n ** 9n,
    '.5': 5n * 10n ** 8n,
    '1n': 1n,
    '1u': 1000n,
    '100m': 10n ** 8n,
    '2k': 2n * 10n ** 12n,
    '9P': 9n * 10n ** 24n,
    '1E': 10n ** 27n,
    '1e3': 10n ** 12n,
    '1E3': 10n ** 12n,
    '15e-1': 15n * 10n ** 8n,
    '64Mi': 64n * 2n ** 20n * 10n ** 9n,
    '1.5Ki': 1536n * 10n ** 9n,
    '0.1n': 1n,
    '-0.1n': -1n,
    '0e999': 0n,
    '1e-999': 1n,
  };
  for (const [text, nanos] of Object.entries(NANOS)) {
    it(`reads ${text}`, () => expect(parseNanos(text)).to.equal(nanos));
  }

  for (const text of ['', '.', '-', 'm', '1 ', '1mm', '1ki', '1K', '0x1', '1e', '1,5', 'NaN']) {
    it(`refuses ${JSON.stringify(text)}`, () => expect(() => parseNanos(text)).to.throw(QuantityError));
  }

  it('caps amounts above the largest quantity before they become large integers', () => {
    for (const text of ['1e400', '1e1000', '9223372036854775808']) {
      expect(parseNanos(text)).to.equal((2n ** 63n - 1n) * 10n ** 9n);
    }
    expect(() => parseNanos('9'.repeat(100_000))).to.throw(QuantityError, 'is not a quantity');
  });
});

describe('parseThousandths', () => {
  it('rounds away from zero', () => {
    expect(parseThousandths('27000001n')).to.equal(28n);
    expect(parseThousandths('-27000001n')).to.equal(-28n);
    expect(parseThousandths('27m')).to.equal(27n);
  });

  it('rejects numbers of more than 64 bits', () => {
    expect(parseThousandths('9223372036854775807m')).to.equal(2n ** 63n - 1n);
    expect(() => parseThousandths('9223372036854775808m')).to.throw(
      QuantityError,
      '"9223372036854775808m" exceeds 64 bits in thousandths',
    );
    expect(() => parseThousandths('10P')).to.throw(QuantityError);
  });
});

describe('divideUp', () => {
  it('is the quotient that is no nearer to zero', () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.bigInt({ min: 1n, max: 10n ** 9n }), (amount, divisor) => {
        const quotient = divideUp(amount, divisor);
        const magnitude = (value: bigint) => (value < 0n ? -value : value);
        expect(magnitude(quotient * divisor) >= magnitude(amount)).to.equal(true);
        expect(magnitude(quotient * divisor) - magnitude(amount) < divisor).to.equal(true);
      }),
    );
  });
});

describe('formatThousandths', () => {
  const TEXTS: readonly [bigint, string][] = [
    [0n, '0'],
    [1n, '1m'],
    [-2500n, '-2500m'],
    [3000n, '3'],
    [20_000_000n, '20k'],
    [20_001_000n, '20001'],
    [9n * 10n ** 18n, '9P'],
    [-(2n ** 63n), '-9223372036854775808m'],
  ];
  for (const [thousandths, text] of TEXTS) {
    it(`writes ${text}`, () => expect(formatThousandths(thousandths)).to.equal(text));
  }

  it('formats the parsed value', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), (thousandths) => {
        expect(parseThousandths(formatThousandths(thousandths))).to.equal(thousandths);
        expect(parseThousandths(formatBinaryThousandths(thousandths))).to.equal(thousandths);
      }),
    );
  });
});

describe('formatBinaryThousandths', () => {
  const TEXTS: readonly [bigint, string][] = [
    [0n, '0'],
    [1023_000n, '1023'],
    [1000_000n, '1k'],
    [1024_000n, '1Ki'],
    [-1024_000n, '-1Ki'],
    [91_000_000_000n, '91000000'],
    [75_161_927_600n, '75161927600m'],
    [64n * 2n ** 20n * 1000n, '64Mi'],
  ];
  for (const [thousandths, text] of TEXTS) {
    it(`writes ${text}`, () => expect(formatBinaryThousandths(thousandths)).to.equal(text));
  }
});

describe('formatValue', () => {
  it('writes a number as a quantity, cut off after thousandths', () => {
    const written: [number, string][] = [
      [0, '0'],
      [12, '12'],
      [-3, '-3'],
      [0.0004, '0'],
      [1.9999, '1999m'],
      [-1.9999, '-1999m'],
      [4.35, '4350m'], // 4349.999… if multiplied as a double
      [1_500_000, '1500k'],
    ];
    expect(written.map(([value]) => formatValue(value))).to.deep.equal(written.map(([, text]) => text));
  });

  it('writes the greatest numbers, which may denote a missing value, as the greatest quantity', () => {
    for (const value of [1e19, 1e305, 1e306, Number.MAX_VALUE]) {
      expect(formatValue(value)).to.equal('9223372036854775807');
      expect(formatValue(-value)).to.equal('-9223372036854775807');
    }
  });

  it('writes every number as quantities are written', () => {
    const digits = [1, -1, 7, 10, 12.5, 999, 1_000, 1_024, 1_001, 999_999.999, 9_007_199_254_740.992];
    for (const digit of digits) {
      for (let power = -5; power <= 25; power++) {
        const value = digit * 10 ** power;
        const nanos = BigInt(Math.trunc(Number((value * 1000).toPrecision(15)))) * 1_000_000n;
        expect(formatValue(value), String(value)).to.equal(Quantity.ofNanos(nanos).toString());
      }
    }
  });
});
