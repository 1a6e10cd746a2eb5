import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import fc from 'fast-check';
import type { DecodeOptions } from '#lib/resource-metrics/scrape/decoding/complete-pod.ts';
import {
  decodeExposition,
  type ExpectedContainer,
  ExpectedContainers,
  mayBeExpected,
} from '#lib/resource-metrics/scrape/decoding/exposition-decoder.ts';
import { decodeSummary } from '#lib/resource-metrics/scrape/decoding/summary-decoder.ts';
import { ExcessiveResponse } from '#lib/resource-metrics/scrape/response-bounds.ts';
import { readPlainly } from './plain-exposition.ts';

const ORIGIN = {
  nodeName: 'lab-node',
  requestedAtMs: 5,
  respondedAtMs: 6,
  receivedAtMs: 7,
  receivedAtWallMs: 1_795_251_661_500,
};
const FIXTURES = new URL('../../../fixtures/kubelet/series/', import.meta.url);
const recorded = (file: string) => readFile(new URL(file, FIXTURES));
const decodeText = (text: string, options?: DecodeOptions) =>
  decodeExposition(Buffer.from(text), ORIGIN, options);

const decode = (...lines: string[]) => decodeText(lines.join('\n'));
const NODE = [
  'node_cpu_usage_seconds_total 2798.632315044 1795251659494',
  'node_memory_working_set_bytes 3.125415936e+09 1795251659494',
];
const IN_POD = '{container="app",namespace="default",pod="web-1"}';
const CPU = `container_cpu_usage_seconds_total${IN_POD} 5.289110879 1795251662066`;
const MEMORY = `container_memory_working_set_bytes${IN_POD} 2.5440256e+07 1795251662066`;
const START = `container_start_time_seconds${IN_POD} 1.7952515746599536e+09`;

describe('decodeExposition', () => {
  it('decodes samples of the node and its containers', () => {
    expect(decode(...NODE, CPU, MEMORY, START)).to.deep.equal({
      nodeName: 'lab-node',
      requestedAtMs: 5,
      respondedAtMs: 6,
      receivedAtMs: 7,
      stampResolution: 'millisecond',
      node: {
        name: 'lab-node',
        startedAtMs: undefined,
        takenAtMs: 1_795_251_659_494,
        cpuCoreNanoseconds: 2_798_632_315_044,
        memoryBytes: 3_125_415_936,
        cpuUsageNanocores: undefined,
      },
      pods: [
        {
          namespace: 'default',
          name: 'web-1',
          uid: undefined,
          incompleteBecause: undefined,
          containers: [
            {
              name: 'app',
              startedAtMs: 1_795_251_574_659.9536,
              takenAtMs: 1_795_251_662_066,
              cpuCoreNanoseconds: 5_289_110_879,
              cpuUsageNanocores: undefined,
              memoryBytes: 25_440_256,
            },
          ],
        },
      ],
      ignored: [],
    });
  });

  it('has the same containers as the summary of the same moment, with similar counters', async () => {
    for (const round of ['t0', 't1', 't2']) {
      const exposition = decodeExposition(await recorded(`${round}-metrics-resource.txt`), ORIGIN);
      const summary = decodeSummary(await recorded(`${round}-summary-cpu-memory.json`), ORIGIN);
      const containersOf = ({ pods }: typeof summary) =>
        new Map(
          pods.flatMap((pod) =>
            pod.containers.map((each) => [`${pod.namespace}/${pod.name}/${each.name}`, each]),
          ),
        );
      const [fromExposition, fromSummary] = [containersOf(exposition), containersOf(summary)];
      expect([...fromExposition.keys()]).to.have.members([...fromSummary.keys()]);
      for (const [key, { cpuCoreNanoseconds, startedAtMs }] of fromExposition) {
        expect(cpuCoreNanoseconds, key).to.be.closeTo(fromSummary.get(key)?.cpuCoreNanoseconds ?? 0, 1e8);
        expect(startedAtMs, key).to.be.closeTo(fromSummary.get(key)?.startedAtMs ?? 0, 1000);
      }
      expect(exposition.node?.cpuCoreNanoseconds).to.equal(summary.node?.cpuCoreNanoseconds);
      expect(exposition.node?.memoryBytes).to.equal(summary.node?.memoryBytes);
    }
  });

  it('decodes swap if enabled and reported', async () => {
    const recording = decodeExposition(await recorded('t0-metrics-resource.txt'), ORIGIN, {
      extras: new Set(['swap']),
    });
    expect(recording.node?.extraBytes).to.deep.equal({ swap: 0 });
    for (const { extraBytes } of recording.pods.flatMap(({ containers }) => containers)) {
      expect(extraBytes).to.deep.equal({ swap: 0 });
    }
    const lines = [...NODE, CPU, MEMORY, `container_swap_usage_bytes${IN_POD} 4.096e+03 1795251662066`];
    const { node, pods } = decodeText(lines.join('\n'), {
      extras: new Set(['swap', 'ephemeral-storage']),
    });
    expect(node?.extraBytes).to.equal(undefined);
    expect(pods[0]?.containers[0]?.extraBytes).to.deep.equal({ swap: 4096 });
    expect(decode(...lines).pods[0]?.containers[0]).not.to.have.property('extraBytes');
  });

  it('accepts carriage returns, comments, blank lines and unknown series', () => {
    const response = decode(
      '# HELP x y\r',
      '',
      ' ',
      `${CPU}\r`,
      `${MEMORY}\r`,
      'pod_swap_usage_bytes{pod="x"} 0 1\r',
    );
    expect(response.pods[0]?.containers).to.have.length(1);
    expect(response.ignored).to.deep.equal([]);
  });

  it('uses the time of receipt for samples without timestamps', () => {
    const unstamped = [...NODE, CPU, MEMORY].map((line) => line.replace(/ \d{13}$/, ''));
    const { node, pods } = decode(...unstamped);
    expect(node?.takenAtMs).to.equal(ORIGIN.receivedAtWallMs);
    expect(pods[0]?.containers[0]?.takenAtMs).to.equal(ORIGIN.receivedAtWallMs);
  });

  it('ignores an invalid line, and reports it', () => {
    const response = decode(CPU, 'container_cpu_usage_seconds_total{container="b', MEMORY);
    expect(response.pods[0]?.incompleteBecause).to.equal(undefined);
    expect(response.ignored).to.deep.equal([
      'invalid sample line "container_cpu_usage_seconds_total{container=\\"b"',
    ]);
  });

  it('reports 80 characters of an invalid line, regardless of their bytes', () => {
    for (const letter of ['%', 'é', '…'])
      expect(decode(CPU, MEMORY, `${letter.repeat(200)}\n#`).ignored).to.deep.equal([
        `invalid sample line "${letter.repeat(80)}"`,
      ]);
    expect(decode(CPU, MEMORY, '%', '').ignored).to.deep.equal(['invalid sample line "%"']);
  });

  it('reports at most a thousand invalid lines', () => {
    const lines = Array.from({ length: 1001 }, (_, index) => `%${index}`);
    expect(decode(CPU, MEMORY, ...lines).ignored).to.deep.equal(
      lines.slice(0, 1000).map((line) => `invalid sample line "${line}"`),
    );
  });

  for (const [what, lines, reason] of [
    ['no CPU sample', [MEMORY], 'has no CPU time'],
    ['a CPU sample of NaN', [CPU.replace('5.289110879', 'NaN'), MEMORY], 'has no CPU time'],
    ['a CPU sample of +Inf', [CPU.replace('5.289110879', '+Inf'), MEMORY], 'has no CPU time'],
    ['a CPU sample of 0', [CPU.replace('5.289110879', '0'), MEMORY], 'has no CPU time'],
    [
      'a CPU sample with a timestamp of 0',
      [CPU.replace(' 1795251662066', ' 0'), MEMORY],
      'has no time of the CPU reading',
    ],
    [
      'a CPU sample that is stamped in nanoseconds',
      [CPU.replace('1795251662066', '1795251662066000000'), MEMORY],
      'has no time of the CPU reading',
    ],
    ['a CPU sample beyond 2^63 ns', [CPU.replace('5.289110879', '1e300'), MEMORY], 'has no CPU time'],
    ['a working set beyond 2^63', [CPU, MEMORY.replace('2.5440256e+07', '1e19')], 'has no working set'],
    ['no memory sample', [CPU], 'has no working set'],
  ] as const) {
    it(`reports an incomplete pod if a container has ${what}`, () => {
      expect(decode(...lines).pods[0]?.incompleteBecause).to.equal(`container "app" ${reason}`);
    });
  }

  it('ignores a terminated init container that only has a start time', () => {
    const init = START.replace('"app"', '"init"').replace('1.7952515746599536e+09', '1.79525157e+09');
    expect(decode(init, CPU, MEMORY, START).pods[0]).to.have.property('incompleteBecause', undefined);
  });

  it('throws if the kubelet reports a scrape error', () => {
    const text = '# TYPE resource_scrape_error gauge\nresource_scrape_error 1\n';
    expect(() => decodeText(text)).to.throw('the kubelet failed to read its own metrics');
  });

  it('throws if there are no metrics, and describes the response', () => {
    expect(() => decodeText('')).to.throw('the response has no metrics');
    expect(() => decodeText('scrape_error 0\nnode_cpu_usage_seconds_total 7 1000\n')).to.throw(
      /^the response has no metrics$/,
    );
    expect(() => decodeText('<html>')).to.throw(
      'the response has no metrics; ignored: invalid sample line "<html>"',
    );
  });

  it('has no start time if it is out of range', () => {
    const [pod] = decode(CPU, MEMORY, START.replace('1.7952515746599536e+09', '1.7952515746599536e+18')).pods;
    expect(pod).to.have.property('incompleteBecause', undefined);
    expect(pod?.containers[0]?.startedAtMs).to.equal(undefined);
  });

  it('throws at the 50,000th pod or container', () => {
    const line = (pod: number) =>
      `container_cpu_usage_seconds_total{container="a",namespace="b",pod="p${pod}"} 1 2`;
    const responseOf = (pods: number) => Array.from({ length: pods }, (_, pod) => line(pod)).join('\n');
    expect(decodeText(responseOf(25_000)).pods).to.have.length(25_000);
    for (const pods of [25_001, 200_000]) {
      expect(() => decodeText(responseOf(pods)))
        .to.throw(ExcessiveResponse, 'more than 50000 pods and containers by line 25001')
        .with.property('bound', 'parts');
    }
  });

  it('returns the same for any order of containers in series', () => {
    const series = ['container_cpu_usage_seconds_total', 'container_memory_working_set_bytes'];
    const names = ['a', 'b', 'c', 'd'];
    const order = fc.shuffledSubarray(names);
    fc.assert(
      fc.property(order, order, (first, second) => {
        const lines = [first, second].flatMap((each, index) =>
          each.map(
            (name) => `${series[index]}{container="${name}",namespace="n",pod="p"} ${name.charCodeAt(0)} 5`,
          ),
        );
        const [pod] = decode(...NODE, ...lines).pods;
        const whole = names.filter((name) => first.includes(name) && second.includes(name));
        const read = pod?.containers.map(({ name, memoryBytes }) => [name, memoryBytes]) ?? [];
        expect(read).to.have.deep.members(whole.map((name) => [name, name.charCodeAt(0)]));
      }),
    );
  });

  it('accepts lines in any order', () => {
    const lines = [...NODE, CPU, MEMORY, START];
    fc.assert(
      fc.property(fc.shuffledSubarray(lines, { minLength: lines.length }), (shuffled) => {
        expect(decode(...shuffled)).to.deep.equal(decode(...lines));
      }),
    );
  });

  describe('compared with a simple decoder', () => {
    const name = fc.constantFrom(
      ...['cpu_usage_seconds_total', 'memory_working_set_bytes', 'start_time_seconds'].flatMap((series) => [
        `container_${series}`,
        `node_${series}`,
      ]),
      ...['resource_scrape_error', 'container_cpu', 'pod_cpu_usage_seconds_total', 'a:b', '1a', ''],
    );
    const space = fc.constantFrom('', '', '', ' ', '\t', '\r');
    const value = fc.oneof(
      fc.double().map(String),
      fc.double({ min: 0, max: 1e12, noNaN: true }).map((number) => number.toExponential()),
      fc.nat().map(String),
      fc.constantFrom(
        'NaN',
        '+Inf',
        '-Inf',
        '.5',
        '5.',
        '1e',
        '0x1',
        '1e400',
        '12345678901234567890.5',
        '9007199254740993',
      ),
    );
    const stamp = fc.oneof(
      fc.constant(''),
      fc.nat(2_000_000_000_000).map((ms) => ` ${ms}`),
      fc.constant(' -5'),
      fc.constant(' x'),
    );
    const labelName = fc.constantFrom('container', 'namespace', 'pod', 'pods', 'id');
    const text = fc.oneof(
      fc.constantFrom('a', 'b', 'kube-system', 'web-1'),
      fc.string({ unit: fc.constantFrom('a', '\\\\', '\\n', '\\"', '\\x', 'é', '😀', '}', ',', ' ') }),
    );
    const label = fc
      .tuple(labelName, space, space, text)
      .map(([of, before, behind, what]) => `${of}${before}=${behind}"${what}"${before}`);
    const naming = fc
      .tuple(fc.constantFrom('a', 'b'), fc.constantFrom('x', 'y'), fc.constantFrom('p', 'q'))
      .map(
        ([container, namespace, pod]) => `{container="${container}",namespace="${namespace}",pod="${pod}"}`,
      );
    const labels = fc.oneof(
      naming,
      naming,
      fc
        .tuple(fc.array(label, { maxLength: 4 }), fc.constantFrom('', ',', ', '))
        .map(([all, end]) => `{${all.join(',')}${end}}`),
      fc.constantFrom('', '{', '{}', '{,}', `{pod="${'long'.repeat(300)}"}`, `{pod="${'é'.repeat(1024)}"}`),
    );
    const sample = fc
      .tuple(name, labels, fc.constantFrom(' ', '  ', '\t', ''), value, stamp, space)
      .map((parts) => parts.join(''));
    const line = fc.oneof(
      { weight: 8, arbitrary: sample },
      { weight: 1, arbitrary: fc.constantFrom('', ' ', '# x', ' # x', '\r', '\ufeff') },
    );
    const change = fc.tuple(fc.nat(), fc.constantFrom('', '"', '{', '}', ',', '\\', ' ', '\n', '1', 'é'));

    function compare(exposition: string): void {
      const plain = readPlainly(exposition, ORIGIN.nodeName, ORIGIN.receivedAtWallMs);
      // Always includes a node, so that there is a result.
      const read = decodeText(`${exposition}\n${NODE.join('\n')}`);
      expect(read.pods).to.deep.equal(plain.pods);
      expect(read.ignored).to.have.length(plain.ignored);
      const { node } = decodeText(`${NODE.join('\n')}\n${exposition}`);
      const { node: plainNode } = readPlainly(
        `${NODE.join('\n')}\n${exposition}`,
        ORIGIN.nodeName,
        ORIGIN.receivedAtWallMs,
      );
      const isKnown =
        plainNode.takenAtMs !== undefined &&
        plainNode.cpuCoreNanoseconds !== undefined &&
        plainNode.memoryBytes !== undefined;
      expect(node).to.deep.equal(isKnown ? { ...plainNode, cpuUsageNanocores: undefined } : undefined);
    }

    it('caches the containers of a node in the order of their first samples', () => {
      const expected = new ExpectedContainers();
      const sampleOf = (container: string, pod: string) =>
        `container_cpu_usage_seconds_total{container="${container}",namespace="n",pod="${pod}"} 1 5`;
      const names = () => expected.get(ORIGIN.nodeName).map(({ name, pod }) => `${pod.name}/${name}`);
      for (const containers of [
        ['b q', 'a p', 'c p'],
        ['a p', 'c p', 'd q', 'é q'],
      ]) {
        const samples = containers.map((container) =>
          sampleOf(...(container.split(' ') as [string, string])),
        );
        decodeExposition(Buffer.from([...samples, ...NODE, ...samples].join('\n')), ORIGIN, { expected });
        expect(names()).to.deep.equal(containers.map((each) => each.split(' ').reverse().join('/')));
      }
      expect(expected.get(ORIGIN.nodeName).map(({ isPlain }) => isPlain)).to.deep.equal([
        true,
        true,
        true,
        false,
      ]);
    });

    it('returns the same regardless of the previous containers', () => {
      const lines = fc.array(line, { maxLength: 12 });
      fc.assert(
        fc.property(fc.array(lines, { minLength: 2, maxLength: 4 }), (expositions) => {
          const expected = new ExpectedContainers();
          for (const all of expositions) {
            const body = Buffer.from([...all, ...NODE].join('\n'));
            expect(decodeExposition(body, ORIGIN, { expected })).to.deep.equal(
              decodeExposition(body, ORIGIN),
            );
          }
        }),
        { numRuns: 1000 },
      );
    });

    it('returns the same for arbitrary lines', () => {
      const lines = fc.array(line, { maxLength: 12 });
      const pod = 'container_cpu_usage_seconds_total{container="a",namespace="x",pod="always"} 1 2\n';
      fc.assert(
        fc.property(lines, (all) => compare(pod + all.join('\n'))),
        { numRuns: 1000 },
      );
    });

    it('returns the same for mutated responses of a kubelet', async () => {
      const exposition = (await recorded('t0-metrics-resource.txt')).toString();
      fc.assert(
        fc.property(fc.array(change, { maxLength: 4 }), (changes) => {
          let changed = exposition;
          for (const [position, character] of changes) {
            const at = position % changed.length;
            changed = changed.slice(0, at) + character + changed.slice(at + 1);
          }
          compare(changed);
        }),
        { numRuns: 200 },
      );
    });
  });
});

const container = (name: string): ExpectedContainer => ({
  name,
  pod: { namespace: 'n', name: 'p' },
  isPlain: true,
});

describe('ExpectedContainers', () => {
  it('caches containers until they change or the node is gone', () => {
    const expected = new ExpectedContainers();
    const [a, b, c] = ['a', 'b', 'c'].map(container) as [
      ExpectedContainer,
      ExpectedContainer,
      ExpectedContainer,
    ];
    expect(expected.get('node')).to.deep.equal([]);
    const first = [a, b];
    expected.record('node', first);
    expected.record('node', [a, b]);
    expect(expected.get('node')).to.equal(first);
    for (const found of [[b, a], [a], [a, b, c], [a, container('b')]]) {
      expected.record('node', found);
      expect(expected.get('node')).to.equal(found);
    }
    expected.retain((name) => name === 'node');
    expect(expected.get('node')).to.have.length(2);
    expected.retain(() => false);
    expect(expected.get('node')).to.deep.equal([]);
  });

  it('does not cache containers of a node that has too many', () => {
    const expected = new ExpectedContainers();
    const many = Array.from({ length: 2000 }, (_, index) => container(`${index}`));
    expected.record('node', many);
    expect(expected.get('node')).to.equal(many);
    expected.record('node', [...many, container('one too many')]);
    expect(expected.get('node')).to.deep.equal([]);
  });
});

describe('mayBeExpected', () => {
  it('accepts only names that need no escapes', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', '-', '"', '\\', '\n', 'é', '~', '\u007f') }),
        (name) => {
          const escaped = name.replace(/[\\"\n]/g, (character) =>
            character === '\n' ? '\\n' : `\\${character}`,
          );
          const isAsItIs = escaped === name && !/[^ -~]/.test(name);
          for (const [one, namespace, pod] of [
            [name, 'n', 'p'],
            ['c', name, 'p'],
            ['c', 'n', name],
          ] as const)
            expect(mayBeExpected(one, { namespace, name: pod })).to.equal(isAsItIs);
        },
      ),
    );
  });
});
