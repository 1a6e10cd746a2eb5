import { expect } from 'chai';
import * as fc from 'fast-check';
import {
  configurePrometheus,
  formatConfiguration,
} from '#lib/prometheus-operator/configuration/prometheus-configuration.ts';
import { Refusal } from '#lib/prometheus-operator/objects/refusal.ts';
import { ObjectSet, readObjectType } from '#lib/prometheus-operator/selection/object-set.ts';
import { requireProgram } from '#spec/support/machine-programs.ts';
import { runToEnd } from '#spec/support/run-to-end.ts';
import { TemporaryDirectory } from '#spec/support/temporary-directory.ts';
import { readCases } from '../replay/recorded-case.ts';

/** Debian's Prometheus, which is built without discoveries. */
const VERSION = 'v2.42.0';
const DISCOVERIES: ReadonlySet<string> = new Set(['kubernetes_sd_configs', 'consul_sd_configs']);

describe('what configurePrometheus writes', () => {
  let folder: TemporaryDirectory;
  let promtool: string;

  before(async function () {
    promtool = await requireProgram(this, 'promtool');
    folder = await TemporaryDirectory.create();
  });

  after(() => folder?.[Symbol.asyncDispose]());

  it('is accepted by Prometheus, for the objects of all recorded cases', async () => {
    let accepted = 0;
    for (const { name, steps } of readCases('spec/fixtures/prometheus-operator/cases.jsonl.gz')) {
      const set = new ObjectSet('default');
      for (const { apply } of steps) {
        for (const object of apply) {
          const { spec } = object as { readonly spec?: object };
          const of =
            object.kind === 'Prometheus' ? { ...object, spec: { ...spec, version: VERSION } } : object;
          set.add(of, readObjectType(of) ?? { group: '', kind: '' });
        }
      }
      for (const text of configurationsOf(set)) {
        expect(await problemOf(text), name).to.equal('');
        accepted++;
      }
    }
    expect(accepted).to.be.above(150);
  });

  it('is accepted by Prometheus, for hostile monitors, of which others are refused alone', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(MONITOR, { minLength: 1, maxLength: 30 }), async (specs) => {
        const set = new ObjectSet('shop');
        const add = (kind: string, name: string, spec: object) =>
          set.add({ metadata: { name }, spec }, { group: 'monitoring.coreos.com', kind });
        add('Prometheus', 'a', { podMonitorSelector: {}, version: VERSION });
        for (const [index, spec] of specs.entries()) {
          try {
            add('PodMonitor', `m${index}`, spec);
          } catch (error) {
            if (!/^Cannot read the PodMonitor: /.test((error as Error).message)) throw error;
          }
        }
        const [text = ''] = configurationsOf(set);
        expect(await problemOf(text), text).to.equal('');
      }),
      { numRuns: 40 },
    );
  });

  /** Why Prometheus refuses a configuration; empty if it accepts it. */
  async function problemOf(text: string): Promise<string> {
    const file = await folder.write('prometheus.yaml', text);
    const { exitStatus, stderr } = await runToEnd(
      promtool,
      ['check', 'config', '--syntax-only', file],
      60_000,
    );
    return exitStatus === 0 ? '' : stderr;
  }
});

/** Texts that YAML, regular expressions, URLs and labels read differently. */
const TEXT = fc.oneof(
  fc.constantFrom(
    '',
    'on',
    '1e3',
    '0x10',
    '~',
    '2026-01-01',
    'a: b',
    '- a',
    '# a',
    '*a',
    '&a',
    '%',
    '$1',
    '$$',
  ),
  fc.constantFrom(
    '(',
    '[a',
    '(?i)a',
    'a{1001}',
    '\\C',
    '\\1',
    '(?=a)',
    '.*',
    'x|y',
    '"',
    "'",
    '\n',
    '\u0000',
    'é',
  ),
  fc.string({ maxLength: 8 }),
);
const DURATION = fc.constantFrom('', '0', '0s', '1ms', '30s', '1m', '1d', '5y', '99999y');
const LIMIT = fc.constantFrom(-1, 0, 1, 2 ** 31, 2 ** 53);
const SECRET_KEY = fc.constant({ name: 'absent', key: 'a' });
const ACTION = fc.constantFrom(
  ...['replace', 'Keep', 'drop', 'HashMod', 'labelmap', 'LabelDrop', 'labelkeep', 'lowercase', 'KeepEqual'],
);

const optional = <T extends Record<string, fc.Arbitrary<unknown>>>(fields: T) =>
  fc.record(fields, { requiredKeys: [] });

const RELABELING = optional({
  sourceLabels: fc.array(TEXT, { maxLength: 2 }),
  separator: TEXT,
  targetLabel: fc.oneof(TEXT, fc.constant('a')),
  regex: TEXT,
  modulus: fc.constantFrom(0, 1, -1, 2 ** 33),
  replacement: TEXT,
  action: ACTION,
});

const ENDPOINT = optional({
  port: TEXT,
  targetPort: fc.oneof(TEXT, fc.integer()),
  path: TEXT,
  scheme: fc.constantFrom('HTTP', 'https'),
  params: fc.dictionary(TEXT, fc.array(TEXT, { maxLength: 2 }), { maxKeys: 2 }),
  interval: DURATION,
  scrapeTimeout: DURATION,
  honorLabels: fc.boolean(),
  trackTimestampsStaleness: fc.boolean(),
  followRedirects: fc.boolean(),
  enableHttp2: fc.boolean(),
  proxyUrl: fc.oneof(
    TEXT.map((text) => `http://${text}`),
    fc.constant('http://proxy:3128'),
  ),
  noProxy: TEXT,
  basicAuth: fc.constant({}),
  bearerTokenSecret: SECRET_KEY,
  relabelings: fc.array(RELABELING, { maxLength: 1 }),
  metricRelabelings: fc.array(RELABELING, { maxLength: 1 }),
});

const MONITOR = fc.record(
  {
    selector: optional({ matchLabels: fc.dictionary(TEXT, TEXT, { maxKeys: 1 }) }),
    podMetricsEndpoints: fc.array(ENDPOINT, { minLength: 1, maxLength: 1 }),
    jobLabel: TEXT,
    podTargetLabels: fc.array(TEXT, { maxLength: 2 }),
    sampleLimit: LIMIT,
    labelLimit: LIMIT,
    bodySizeLimit: fc.constantFrom('', '0', '1B', '1.5MB', '1EiB', '9999EB'),
    nativeHistogramMinBucketFactor: TEXT,
  },
  { requiredKeys: ['selector', 'podMetricsEndpoints'] },
);

function configurationsOf(set: ObjectSet): readonly string[] {
  return set.ofKind('Prometheus').flatMap((prometheus) => {
    try {
      const { file } = configurePrometheus(prometheus, set, { assumesReferences: false });
      return file === undefined ? [] : [formatConfiguration(withoutDiscoveries(file) as typeof file)];
    } catch (error) {
      if (error instanceof Refusal) return [];
      throw error;
    }
  });
}

function withoutDiscoveries(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutDiscoveries);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).filter(([name]) => !DISCOVERIES.has(name));
  return Object.fromEntries(fields.map(([name, field]) => [name, withoutDiscoveries(field)]));
}
