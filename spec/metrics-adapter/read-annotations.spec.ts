import { expect } from 'chai';
import fc from 'fast-check';
import { isConfigKey, isMisspeltConfigKey } from '#lib/metrics-adapter/collected-metrics.ts';
import {
  parseAnnotationKey,
  type ReadConfig,
  readAnnotations,
} from '#lib/metrics-adapter/read-annotations.ts';

describe('parseAnnotationKey', () => {
  it('reads type, metric, collector and setting', () => {
    expect(parseAnnotationKey('metric-config.pods.requests.json-path/json-key')).to.deep.equal({
      type: 'Pods',
      metric: 'requests',
      collector: 'json-path',
      setting: 'json-key',
    });
    expect(parseAnnotationKey('metric-config.object.a.b/c')?.type).to.equal('Object');
    expect(parseAnnotationKey('metric-config.external.a.b/c')?.type).to.equal('External');
    expect(parseAnnotationKey('metric-config.External.a.b/c')?.type).to.equal('External');
    for (const type of ['externl', 'anything', 'constructor'])
      expect(parseAnnotationKey(`metric-config.${type}.a.b/c`)).to.have.property('type', undefined);
  });

  it('ignores keys of another form', () => {
    for (const key of [
      '',
      'metric-config.pods.a.b',
      'metric-config.pods.a.b.c/d',
      'metric-config.pods.a/b',
      'other.pods.a.b/c',
      'metric-config.pods.a.b/c/d',
      'metric-config.pods..b/c',
      'metric-config.pods.a.b/',
    ])
      expect(parseAnnotationKey(key), key).to.equal(undefined);
  });

  it('recognizes each key that it reads as a configuration key', () => {
    const word = fc.stringMatching(/^[a-z-]+$/);
    fc.assert(
      fc.property(word, word, word, (metric, collector, setting) => {
        const key = `metric-config.external.${metric}.${collector}/${setting}`;
        expect(isConfigKey(key)).to.equal(true);
        expect(parseAnnotationKey(key)).to.deep.equal({ type: 'External', metric, collector, setting });
      }),
    );
  });
});

describe('readAnnotations', () => {
  it('puts the settings of a collector together', () => {
    const [read, ...more] = readAnnotations({
      'metric-config.external.rate.prometheus/query': 'up',
      'metric-config.external.rate.prometheus/interval': '1m30s',
      'metric-config.external.rate.prometheus/per-replica': 'false',
      'kubectl.kubernetes.io/last-applied-configuration': '{}',
    });
    expect(more).to.deep.equal([]);
    expect(configOf(read)).to.deep.include({
      type: 'External',
      metric: 'rate',
      collector: 'prometheus',
      intervalMs: 90_000,
      perReplica: {
        value: 'false',
        place: 'Annotation metric-config.external.rate.prometheus/per-replica',
      },
    });
    expect(settingsOf(read)).to.deep.equal({ query: 'up' });
  });

  it('treats an interval of 0 as the default', () => {
    const [read] = readAnnotations({ 'metric-config.external.a.b/interval': '0s' });
    expect(configOf(read)).not.to.have.property('intervalMs');
  });

  for (const value of ['', '5', '-1s', '999ms', '25h', 'soon'])
    it(`refuses an interval of "${value}", naming its annotation, and no other metric`, () => {
      const [bad, good] = readAnnotations({
        'metric-config.external.bad.prometheus/interval': value,
        'metric-config.external.good.prometheus/query': 'up',
      });
      expect(errorOf(bad)).to.equal(
        `Annotation metric-config.external.bad.prometheus/interval must be a duration of 1s to 24h0m0s, as in 30s, not "${value}"`,
      );
      expect(settingsOf(good)).to.deep.equal({ query: 'up' });
    });

  it('reads the list, where metrics may have dots', () => {
    const [read] = readAnnotations({
      'metric-config/collectors': `
- type: External
  metric: http.requests_total
  collector: prometheus
  interval: 15s
  weight: 100
  query: |
    sum(rate(http_requests_total[1m]))`,
    });
    expect(configOf(read)).to.deep.include({ metric: 'http.requests_total', intervalMs: 15_000 });
    expect(settingsOf(read)).to.deep.equal({ weight: '100', query: 'sum(rate(http_requests_total[1m]))' });
  });

  for (const key of [
    'metrics-config.external.rate.prometheus/query',
    'metric-configs.pods.rate.json-path/json-key',
    'metrics-configs.externl.rate.prometheus/query',
    'metric_config.object.rate.prometheus/query',
    'Metric-Config.external.rate.prometheus/query',
    'metricconfig.external.http.requests.prometheus/query',
    'metric-config/collector',
    'metric-configs/collectors',
  ])
    it(`refuses the misspelt ${key}, with the rule`, () => {
      expect(isMisspeltConfigKey(key)).to.equal(true);
      const reads = readAnnotations({ [key]: 'up' });
      expect(reads.map(errorOf)).to.deep.equal([
        `Annotation ${key} configures nothing: the key must be metric-config/collectors or have the form metric-config.TYPE.METRIC.COLLECTOR/SETTING`,
      ]);
      expect(reads.map((read) => 'isQuiet' in read)).to.deep.equal([false]);
    });

  it('refuses a type that there is not, once for all settings of a collector', () => {
    const reads = readAnnotations({
      'metric-config.externl.rate.prometheus/query': 'up',
      'metric-config.externl.rate.prometheus/interval': '15s',
      'metric-config.pod.rps.json-path/json-key': '$',
    });
    expect(reads.map(errorOf)).to.deep.equal(
      ['metric-config.externl.rate.prometheus/query', 'metric-config.pod.rps.json-path/json-key'].map(
        (key) =>
          `Annotation ${key} configures nothing: the type of a metric must be one of pods, object, external`,
      ),
    );
  });

  it('does not treat annotations of others as misspelled', () => {
    for (const key of [
      'metrics-config.example.com/external',
      'metrics-config/checksum',
      'metric-config',
      'metric.example.com/collectors',
      'prometheus.io/scrape',
      'kubectl.kubernetes.io/last-applied-configuration',
      'metric-configuration.external.a.b/c',
      '',
    ]) {
      expect(isMisspeltConfigKey(key), key).to.equal(false);
      expect(readAnnotations({ [key]: 'up' }), key).to.deep.equal([]);
    }
  });

  const refused: readonly (readonly [string, string, RegExp])[] = [
    ['no YAML', '[', /must be YAML without aliases$/],
    ['aliases', '[&a {}, *a]', /must be YAML without aliases$/],
    ['no list', 'a: b', /must be a list of collectors$/],
    [
      'an entry without its metric',
      '[{type: Pods, collector: json-path}]',
      /invalid metric in entry 1: it is missing; the entry has type, collector$/,
    ],
    [
      'an entry with its metric misspelt',
      '[{type: Pods, metrics: a, collector: json-path}]',
      /invalid metric in entry \d+: it is missing; the entry has type, metrics, collector$/,
    ],
    [
      'an entry whose metric is a number',
      '[{type: Pods, metric: 1, collector: b}]',
      /invalid metric in entry \d+: it must be a name$/,
    ],
    [
      'another type',
      '[{type: Resource, metric: a, collector: b}]',
      /invalid type in entry 1: it must be Pods, Object or External$/,
    ],
    [
      'a setting that is a list',
      '[{type: Pods, metric: a, collector: b, query: [1]}]',
      /invalid query in entry \d+: it must be a string, a number or a boolean$/,
    ],
    ['a text', '[a]', /invalid form in entry 1: it must be a map of settings$/],
    [
      'a bad interval',
      '[{type: Pods, metric: a, collector: b, interval: 1}]',
      /, entry 1, interval must be a duration/,
    ],
    ['a setting twice', '[{type: Pods, metric: a, collector: b, query: a, query: b}]', /must be YAML/],
    ['more marks than it may have', '\n'.repeat(5_001), /must have at most 5000 lines and characters/],
    ['as many as it may have', '\n'.repeat(5_000), /must be a list of collectors$/],
    ['too much', ' '.repeat(262_145), /must have at most 65536 characters$/],
  ];
  for (const [what, text, error] of refused)
    it(`refuses a list of ${what}`, () => {
      const [read] = readAnnotations({ 'metric-config/collectors': text });
      expect(errorOf(read))
        .to.match(/^Annotation metric-config\/collectors/)
        .and.to.match(error);
    });
});

function configOf(read: ReadConfig | undefined) {
  if (!read || 'error' in read) throw read?.error ?? new Error('nothing was read');
  return read.config;
}

function settingsOf(read: ReadConfig | undefined) {
  return Object.fromEntries([...configOf(read).settings].map(([name, { value }]) => [name, value.trim()]));
}

function errorOf(read: ReadConfig | undefined): string {
  return read && 'error' in read ? read.error.message : 'no error';
}
