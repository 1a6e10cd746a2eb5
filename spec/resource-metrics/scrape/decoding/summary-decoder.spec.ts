import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import { Interner } from '#lib/cache/interner.ts';
import type { ExtraResource } from '#lib/resource-metrics/metrics-batch.ts';
import {
  decodeSummary,
  parseBoundedJson,
  parseRfc3339,
} from '#lib/resource-metrics/scrape/decoding/summary-decoder.ts';
import { ExcessiveResponse } from '#lib/resource-metrics/scrape/response-bounds.ts';
import { NodeMismatchError } from '#lib/resource-metrics/scrape/scrape-error.ts';

const ORIGIN = { nodeName: 'lab-node', requestedAtMs: 5, respondedAtMs: 6, receivedAtMs: 7 };
const FIXTURES = new URL('../../../fixtures/kubelet/series/', import.meta.url);

const decodeText = (text: string) => decodeSummary(Buffer.from(text), ORIGIN);
const decode = (summary: unknown) => decodeText(JSON.stringify(summary));

const CPU = { time: '2026-11-21T09:12:34Z', usageNanoCores: 5, usageCoreNanoSeconds: 979_295_941 };
const MEMORY = { time: '2026-11-21T09:12:34Z', workingSetBytes: 25_640_960 };
const STARTED = '2026-11-21T09:12:18Z';
const container = (changes: object = {}) => ({
  name: 'app',
  startTime: STARTED,
  cpu: CPU,
  memory: MEMORY,
  ...changes,
});
const podOf = (...containers: object[]) => ({
  podRef: { name: 'web-1', namespace: 'default', uid: 'u1' },
  startTime: STARTED,
  containers,
});

describe('decodeSummary', () => {
  it('decodes the response of a real kubelet', async () => {
    const response = decodeSummary(await readFile(new URL('t0-summary-cpu-memory.json', FIXTURES)), ORIGIN);
    expect(response).to.deep.include({
      nodeName: 'lab-node',
      requestedAtMs: 5,
      respondedAtMs: 6,
      receivedAtMs: 7,
      stampResolution: 'second',
    });
    expect(response.node).to.deep.equal({
      name: 'lab-node',
      startedAtMs: Date.UTC(2026, 10, 21, 8, 1, 16),
      takenAtMs: Date.UTC(2026, 10, 21, 9, 12, 32),
      cpuCoreNanoseconds: 3_061_885_831_578,
      memoryBytes: 790_056_960,
      cpuUsageNanocores: 189_083_034,
    });
    expect(response.pods.map(({ namespace, name }) => `${namespace}/${name}`)).to.deep.equal([
      'default/burner-7b8469d94f-v2dlv',
      'kube-system/quiet',
      'default/burner-7b8469d94f-wrk7k',
    ]);
    expect(response.pods[0]).to.deep.equal({
      namespace: 'default',
      name: 'burner-7b8469d94f-v2dlv',
      uid: 'b95dfe2f-0a55-4870-9c5f-c9512f49424c',
      incompleteBecause: undefined,
      containers: [
        {
          name: 'burn',
          startedAtMs: Date.UTC(2026, 10, 21, 9, 12, 18),
          takenAtMs: Date.UTC(2026, 10, 21, 9, 12, 34),
          cpuCoreNanoseconds: 979_295_941,
          cpuUsageNanocores: 42_908_997,
          memoryBytes: 25_640_960,
        },
        {
          name: 'side',
          startedAtMs: Date.UTC(2026, 10, 21, 9, 12, 18),
          takenAtMs: Date.UTC(2026, 10, 21, 9, 12, 34),
          cpuCoreNanoseconds: 17_496_234,
          cpuUsageNanocores: undefined,
          memoryBytes: 733_184,
        },
      ],
    });
  });

  it('rejects a response of another node, and accepts one without a node name', () => {
    const responseOf = (nodeName: unknown) => () => decode({ node: { nodeName }, pods: [] });
    expect(responseOf('lab-node-2')).to.throw(
      NodeMismatchError,
      'the kubelet of node "lab-node-2" responded',
    );
    for (const nodeName of ['lab-node', '', undefined, null, 7]) expect(responseOf(nodeName)).not.to.throw();
  });

  it('decodes the same from the full summary and from CPU and memory only', async () => {
    const read = async (file: string) => decodeSummary(await readFile(new URL(file, FIXTURES)), ORIGIN);
    const [full, slim] = [await read('t1-summary.json'), await read('t1-summary-cpu-memory.json')];
    expect(full.pods.map(({ uid }) => uid)).to.have.members(slim.pods.map(({ uid }) => uid));
  });

  it('rejects every truncated response', async () => {
    const file = await readFile(new URL('t0-summary-cpu-memory.json', FIXTURES), 'utf8');
    const whole = JSON.stringify(JSON.parse(file));
    for (let length = 0; length < whole.length; length++)
      expect(() => decodeText(whole.slice(0, length)), whole.slice(0, length)).to.throw('not valid JSON');
  });

  it('uses the last of several members with one name', () => {
    const cpu = JSON.stringify(CPU);
    const text = `{"pods":[1],"node":{"cpu":${cpu},"cpu":{},"memory":{"workingSetBytes":1}},"pods":[]}`;
    expect(decodeText(text)).to.deep.include({ node: undefined, pods: [], ignored: [] });
  });

  it('has storage and swap only where reported', async () => {
    const read = async (file: string, extras?: ReadonlySet<ExtraResource>) =>
      decodeSummary(await readFile(new URL(file, FIXTURES)), ORIGIN, extras && { extras });
    const both = new Set<ExtraResource>(['swap', 'ephemeral-storage']);
    const { node, pods } = await read('t0-summary.json', both);
    expect(node?.extraBytes).to.deep.equal({ 'ephemeral-storage': 37_236_572_160, swap: 0 });
    expect(pods[0]?.containers[0]?.extraBytes).to.deep.equal({ 'ephemeral-storage': 8192, swap: 0 });
    const slim = await read('t0-summary-cpu-memory.json', both);
    expect(slim.pods[0]?.containers[0]?.extraBytes).to.deep.equal({ swap: 0 });
    const unasked = await read('t0-summary.json');
    expect(unasked.pods[0]?.containers[0]).not.to.have.property('extraBytes');
  });

  it('rejects more pods and containers than a node can run', () => {
    const response = (pods: number) =>
      `{"pods":[${Array(pods).fill('{"podRef":{"name":"a","namespace":"b"}}')}]}`;
    expect(decodeText(response(50_000)).pods).to.have.length(50_000);
    for (const text of [response(50_001), `{"pods":[{"containers":[${Array(50_000).fill('0')}]}]}`]) {
      expect(() => decodeText(text))
        .to.throw(ExcessiveResponse)
        .with.property('bound', 'parts');
    }
  });

  it('shares names of namespaces and containers', () => {
    const made: string[] = [];
    const names = new Interner({ capacity: 10, maxKeyLength: 253 }, (name) => {
      made.push(name);
      return name;
    });
    const text = JSON.stringify({ pods: [podOf(container()), podOf(container())] });
    for (let times = 0; times < 2; times++) decodeSummary(Buffer.from(text), ORIGIN, { names });
    expect(made).to.have.members(['default', 'app']);
  });

  for (const [what, changes, reason] of [
    ['no CPU section', { cpu: undefined }, 'has no CPU time'],
    ['a CPU counter of 0', { cpu: { ...CPU, usageCoreNanoSeconds: 0 } }, 'has no CPU time'],
    [
      'a CPU time of the year 1',
      { cpu: { ...CPU, time: '0001-01-01T00:00:00Z' } },
      'has no time of the CPU reading',
    ],
    [
      'a CPU time of the year 10000',
      { cpu: { ...CPU, time: '+010000-01-01T00:00:00Z' } },
      'has no time of the CPU reading',
    ],
    [
      'a CPU time without a zone',
      { cpu: { ...CPU, time: '2026-11-21T09:12:34' } },
      'has no time of the CPU reading',
    ],
    ['a CPU time that is a number', { cpu: { ...CPU, time: '5' } }, 'has no time of the CPU reading'],
    ['a CPU counter beyond 2^63', { cpu: { ...CPU, usageCoreNanoSeconds: 1e300 } }, 'has no CPU time'],
    ['a working set beyond 2^63', { memory: { ...MEMORY, workingSetBytes: 2 ** 63 } }, 'has no working set'],
    ['a CPU time that is null', { cpu: { ...CPU, time: null } }, 'has no time of the CPU reading'],
    ['no memory section', { memory: undefined }, 'has no working set'],
    ['a working set of 0', { memory: { ...MEMORY, workingSetBytes: 0 } }, 'has no working set'],
    ['neither', { cpu: undefined, memory: undefined }, 'has no CPU time and no working set'],
  ] as const) {
    it(`reports an incomplete pod if a container has ${what}`, () => {
      const [pod] = decode({
        pods: [podOf(container({ name: 'whole' }), container({ name: 'part', ...changes }))],
      }).pods;
      expect(pod?.incompleteBecause).to.equal(`container "part" ${reason}`);
      expect(pod?.containers.map(({ name }) => name)).to.deep.equal(['whole']);
    });
  }

  it('has no start time for the year 1, null or no value', () => {
    for (const startTime of ['0001-01-01T00:00:00Z', null, undefined]) {
      const [pod] = decode({ pods: [podOf(container({ startTime }))] }).pods;
      expect(pod?.incompleteBecause).to.equal(undefined);
      expect(pod?.containers[0]?.startedAtMs).to.equal(undefined);
    }
  });

  it('reads the times of each container, equal to those before or not', () => {
    const [one, other] = ['2026-11-21T09:12:34Z', '2026-11-21T09:12:35Z'];
    const texts = [one, one, 'never', other, 'never', one, null, one, ''];
    const expected = texts.map((text) => (text === one || text === other ? Date.parse(text) : undefined));
    const { pods } = decode({ pods: texts.map((startTime) => podOf(container({ startTime }))) });
    expect(pods.map(({ containers }) => containers[0]?.startedAtMs)).to.deep.equal(expected);
    const timed = texts.map((time) => podOf(container({ cpu: { ...CPU, time } })));
    expect(decode({ pods: timed }).pods.map(({ containers }) => containers[0]?.takenAtMs)).to.deep.equal(
      expected,
    );
  });

  it('accepts an idle container without recent CPU usage', () => {
    const [pod] = decode({ pods: [podOf(container({ cpu: { ...CPU, usageNanoCores: 0 } }))] }).pods;
    expect(pod?.incompleteBecause).to.equal(undefined);
    expect(pod?.containers[0]?.cpuUsageNanocores).to.equal(undefined);
  });

  it('ignores a terminated init container', () => {
    const init = {
      name: 'init',
      startTime: '2026-11-21T09:12:10Z',
      cpu: { ...CPU, usageCoreNanoSeconds: 0 },
    };
    const [pod] = decode({ pods: [podOf(init, container())] }).pods;
    expect(pod?.incompleteBecause).to.equal(undefined);
    expect(pod?.containers.map(({ name }) => name)).to.deep.equal(['app']);
  });

  it('uses the later start of two reports of one name', () => {
    const earlier = container({
      startTime: '2026-11-21T09:00:00Z',
      cpu: { ...CPU, usageCoreNanoSeconds: 7 },
    });
    for (const containers of [
      [earlier, container()],
      [container(), earlier],
    ]) {
      const [pod] = decode({ pods: [podOf(...containers)] }).pods;
      expect(pod?.containers.map(({ cpuCoreNanoseconds }) => cpuCoreNanoseconds)).to.deep.equal([
        979_295_941,
      ]);
    }
  });

  it('has no node if its CPU or memory is missing', () => {
    for (const node of [
      undefined,
      {},
      { cpu: CPU },
      { memory: MEMORY },
      { cpu: { ...CPU, usageCoreNanoSeconds: 0 }, memory: MEMORY },
    ]) {
      expect(decode({ node, pods: [] }).node).to.equal(undefined);
    }
  });

  it('has no rate of the kubelet if it is 0 or missing', () => {
    const { node } = decode({ node: { cpu: { ...CPU, usageNanoCores: 0 }, memory: MEMORY } });
    expect(node?.cpuUsageNanocores).to.equal(undefined);
  });

  it('ignores only a pod without a name', () => {
    expect(
      decode({ pods: [{ podRef: { namespace: 'a' } }, null, 7, podOf(container())] }).pods,
    ).to.have.length(1);
  });

  it('treats `__proto__` as a name', () => {
    const text = `{"pods":[{"podRef":{"name":"__proto__","namespace":"__proto__"},"containers":[]}]}`;
    expect(decodeText(text).pods[0]).to.deep.include({
      namespace: '__proto__',
      name: '__proto__',
    });
    expect(Object.prototype).to.not.have.property('containers');
  });

  it('rejects a response with neither node nor pods', () => {
    for (const text of ['{}', '{"pods":5}', '{"node":"a"}']) {
      expect(() => decodeText(text), text).to.throw('the response is not a summary');
    }
  });

  it('rejects texts that are not a JSON object', () => {
    for (const text of ['', 'null', '7', '"x"', '[]', '{', '<html>', '{"a":1}x']) {
      expect(() => decodeText(text), text).to.throw();
    }
  });

  it('rejects an object without readable parts', () => {
    expect(() => decodeText('{"pods":[{"podRef":7}]}')).to.throw('the response has no metrics');
  });

  it('decodes any JSON object with metrics, and only positive values', () => {
    const value = fc.anything({
      values: [fc.constantFrom(CPU, MEMORY, STARTED, container(), podOf(container()))],
    });
    fc.assert(
      fc.property(value, value, value, (node, pods, extra) => {
        const valid = podOf(container());
        const text = JSON.stringify({ node: { ...CPU, ...Object(node) }, pods: [pods, extra, valid] });
        const response = decodeText(text);
        for (const point of [response.node, ...response.pods.flatMap(({ containers }) => containers)]) {
          if (!point) continue;
          expect(point.cpuCoreNanoseconds).to.be.above(0);
          expect(point.memoryBytes).to.be.above(0);
          expect(point.takenAtMs).to.be.above(0);
        }
      }),
    );
  });
});

const UNBOUNDED_BYTES = 256 * 1024;

const parse = (text: string) => parseBoundedJson(Buffer.from(text));
/** Above the length from which parts are counted. */
const padded = (text: string) => `${text}${' '.repeat(UNBOUNDED_BYTES)}`;

describe('parseBoundedJson', () => {
  it('parses any JSON text, below and above the checked length', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), fc.constantFrom(undefined, 2), (value, space) => {
        const text = JSON.stringify(value, undefined, space);
        expect(parse(text)).to.deep.equal(JSON.parse(text));
        expect(parse(padded(text))).to.deep.equal(JSON.parse(text));
      }),
      { numRuns: 50 },
    );
  });

  it('rejects nesting one level too deep without parsing', () => {
    const nested = (levels: number) => padded('['.repeat(levels) + ']'.repeat(levels));
    expect(() => parse(nested(32))).not.to.throw();
    for (const text of [nested(33), '{"a":'.repeat(3_000_000)]) {
      expect(() => parse(text))
        .to.throw(ExcessiveResponse, /^the response is not a summary: nesting exceeds 32 levels$/)
        .with.property('bound', 'depth');
    }
  });

  it('rejects one value too many', () => {
    const listOf = (elements: number) => `[${'1,'.repeat(elements - 1)}1]`;
    expect(() => parse(listOf(1_000_000))).not.to.throw();
    for (const text of [listOf(1_000_001), `[${'{},'.repeat(500_000)}{}]`]) {
      expect(() => parse(text))
        .to.throw(ExcessiveResponse, /^the response has more than 1000000 lists, objects and members$/)
        .with.property('bound', 'parts');
    }
  });

  it('ignores strings', () => {
    const text = JSON.stringify({ '{"\\': `${'[,{\\"'.repeat(600_000)}` });
    expect(parse(text)).to.deep.equal(JSON.parse(text));
    expect(() => parse(padded(`["]]]]","\\"]]]]",${'['.repeat(33)}`)))
      .to.throw(ExcessiveResponse)
      .with.property('bound', 'depth');
  });

  it('recognizes strings at any position', () => {
    const brackets = '['.repeat(33);
    for (let length = 65_528; length < 65_540; length++) {
      for (const escapes of ['\\"', '\\\\', '\\\\\\"', '']) {
        const string = `"${'a'.repeat(length)}${escapes}${brackets}"`;
        expect(() => parse(padded(`[${string}]`))).not.to.throw();
        expect(() => parse(padded(`[${string},${brackets}`)))
          .to.throw(ExcessiveResponse)
          .with.property('bound', 'depth');
      }
    }
  });

  it('does not quote invalid text', () => {
    for (const text of ['{"a":secret}', '', padded('{"a":"\\'), padded('"secret'), '{"a":1}secret'])
      expect(() => parse(text)).to.throw(/^the response is not valid JSON$/);
  });
});

describe('parseRfc3339', () => {
  it('parses times of the years 0 to 9999 in any zone', () => {
    const [first, last] = [Date.parse('0000-01-02T00:00:00Z'), Date.parse('9999-12-30T23:59:59Z')];
    const zone = fc.integer({ min: -23 * 60 - 59, max: 23 * 60 + 59 });
    fc.assert(
      fc.property(fc.integer({ min: first, max: last }), zone, (timeMs, minutes) => {
        const sign = minutes < 0 ? '-' : '+';
        const clock = [Math.trunc(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
        const offset = sign + clock.map((part) => String(part).padStart(2, '0')).join(':');
        const local = new Date(timeMs + minutes * 60_000).toISOString().slice(0, -1);
        expect(parseRfc3339(local + offset), local + offset).to.equal(timeMs);
      }),
      { numRuns: 1000 },
    );
  });

  it('parses seconds with up to nine decimals', () => {
    const wholeMs = Date.UTC(2026, 10, 21, 10, 12, 34);
    expect(parseRfc3339('2026-11-21T10:12:34Z')).to.equal(wholeMs);
    expect(parseRfc3339('2026-11-21T10:12:34.5Z')).to.equal(wholeMs + 500);
    expect(parseRfc3339('2026-11-21T10:12:34.123456789Z')).to.equal(wholeMs + 123);
  });

  it('checks the number of days in a month', () => {
    for (const day of ['2024-02-29', '2026-01-31', '2026-04-30', '2026-07-31', '2026-08-31', '2000-02-29'])
      expect(parseRfc3339(`${day}T00:00:00Z`), day).to.equal(Date.parse(day));
  });

  it('rejects other texts, even if Date.parse accepts them', () => {
    const texts = [
      ...['', '5', '2026', '2026-11-21', '2026-11-21T10:12:34', '2026-11-21 10:12:34Z', 'Nov 21, 2026'],
      ...[
        '2026-11-21t10:12:34z',
        '+200000-01-01T00:00:00Z',
        '-000001-01-01T00:00:00Z',
        '02026-01-01T00:00:00Z',
      ],
      ...['2026-13-01T00:00:00Z', '2026-00-01T00:00:00Z', '2026-02-29T00:00:00Z', '1900-02-29T00:00:00Z'],
      ...['2026-04-31T00:00:00Z', '2026-01-01T24:00:00Z', '2026-01-01T00:60:00Z', '2026-01-01T00:00:60Z'],
      ...[
        '2026-01-01T00:00:00+24:00',
        '2026-01-01T00:00:00+0100',
        '2026-01-01T00:00:00.Z',
        '2026-01-01T00:00:00Z ',
      ],
      `2026-01-01T00:00:00.${'0'.repeat(10)}Z`,
    ];
    for (const text of texts) expect(parseRfc3339(text), text).to.deep.equal(Number.NaN);
  });
});
