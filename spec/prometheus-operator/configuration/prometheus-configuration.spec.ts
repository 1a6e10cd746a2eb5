import { expect } from 'chai';
import {
  configurePrometheus,
  type PrometheusConfiguration,
} from '#lib/prometheus-operator/configuration/prometheus-configuration.ts';
import { ObjectSet } from '#lib/prometheus-operator/selection/object-set.ts';

interface Given {
  readonly prometheus?: Readonly<Record<string, unknown>>;
  readonly endpoint?: Readonly<Record<string, unknown>>;
  readonly monitor?: Readonly<Record<string, unknown>>;
  readonly scrapeConfig?: Readonly<Record<string, unknown>>;
  readonly secret?: Readonly<Record<string, string>>;
}

/** Configures a Prometheus that selects a PodMonitor with one endpoint, and a ScrapeConfig. */
function configure({ prometheus, endpoint, monitor, scrapeConfig, secret }: Given): PrometheusConfiguration {
  const set = new ObjectSet('shop');
  const add = (kind: string, spec: object) =>
    set.add({ metadata: { name: 'a' }, spec }, { group: 'monitoring.coreos.com', kind });
  add('Prometheus', { podMonitorSelector: {}, scrapeConfigSelector: {}, ...prometheus });
  add('PodMonitor', { selector: {}, podMetricsEndpoints: [{ port: 'http', ...endpoint }], ...monitor });
  if (scrapeConfig) add('ScrapeConfig', scrapeConfig);
  if (secret) set.add({ metadata: { name: 'a' }, stringData: secret }, { group: '', kind: 'Secret' });
  const [object] = set.ofKind('Prometheus');
  if (!object) throw new Error('there is no Prometheus');
  return configurePrometheus(object, set, { assumesReferences: false });
}

function jobsOf({ file }: PrometheusConfiguration): readonly Readonly<Record<string, unknown>>[] {
  return file?.scrape_configs as readonly Readonly<Record<string, unknown>>[];
}

function reasonsOf({ refused }: PrometheusConfiguration): readonly string[] {
  return refused.map(({ reason }) => reason);
}

describe('configurePrometheus', () => {
  for (const [own, enforced, version, expected] of [
    [undefined, 5, 'v2.45.0', undefined],
    [undefined, 5, 'v2.44.0', 5],
    [4, 5, 'v3.0.0', 4],
    [6, 5, 'v3.0.0', 5],
    [0, 5, 'v3.0.0', 5],
    [4, 0, 'v3.0.0', 4],
    [4, undefined, 'v3.0.0', 4],
    [0, undefined, 'v3.0.0', 0],
  ] as const) {
    it(`limits a job to ${expected} for ${own}, ${enforced} enforced, in ${version}`, () => {
      const [job] = jobsOf(
        configure({
          prometheus: { version, ...(enforced !== undefined && { enforcedSampleLimit: enforced }) },
          monitor: own === undefined ? {} : { sampleLimit: own },
        }),
      );
      expect(job?.sample_limit).to.equal(expected);
    });
  }

  for (const [own, enforced, expected] of [
    ['1MB', '1023KB', '1023KB'],
    ['1MB', '1024KB', '1MB'],
    ['1MB', '1025KB', '1MB'],
    ['0', '1MB', '1MB'],
  ] as const) {
    it(`limits the body to ${expected} for ${own}, ${enforced} enforced`, () => {
      const given = { prometheus: { enforcedBodySizeLimit: enforced }, monitor: { bodySizeLimit: own } };
      expect(jobsOf(configure(given))[0]?.body_size_limit).to.equal(expected);
    });
  }

  for (const [field, endpoint, last, first] of [
    ['enable_http2', { enableHttp2: true }, 'v2.34.0', 'v2.35.0'],
    ['track_timestamps_staleness', { trackTimestampsStaleness: true }, 'v2.48.0-rc.0', 'v2.48.0'],
    ['no_proxy', { proxyUrl: 'http://p', noProxy: 'a' }, 'v2.42.9', 'v2.43'],
  ] as const) {
    it(`writes ${field} for ${first}, and not for ${last}`, () => {
      const older = configure({ prometheus: { version: last }, endpoint });
      expect(jobsOf(older)[0]).not.to.have.property(field);
      expect(older.omittedFields).to.deep.equal([`scrape_configs.${field}`]);
      const newer = configure({ prometheus: { version: first }, endpoint });
      expect(jobsOf(newer)[0]).to.have.property(field);
      expect(newer.omittedFields).to.deep.equal([]);
    });
  }

  it('writes the name that a field has in the version', () => {
    const given = (version: string) => ({
      prometheus: { version },
      monitor: { scrapeClassicHistograms: true },
    });
    expect(jobsOf(configure(given('v2.55.0')))[0]).to.have.property('scrape_classic_histograms', true);
    expect(jobsOf(configure(given('v3.0.0')))[0]).to.have.property('always_scrape_classic_histograms', true);
  });

  for (const [target, version, isAccepted] of [
    [`\${1}`, 'v2.53.0', true],
    [`a\${1}b$name`, 'v2.53.0', true],
    ['a-b', 'v2.53.0', false],
    [`1\${1}`, 'v2.53.0', false],
    ['a-b', 'v3.0.0', true],
  ] as const) {
    it(`${isAccepted ? 'accepts' : 'refuses'} the target label ${target} for ${version}`, () => {
      const endpoint = { relabelings: [{ targetLabel: target, action: 'Replace' }] };
      const reasons = reasonsOf(configure({ prometheus: { version }, endpoint }));
      const refusal = `endpoint[0]: relabelConfigs: [0]: "${target}" is invalid 'target_label' for replace action`;
      expect(reasons).to.deep.equal(isAccepted ? [] : [refusal]);
    });
  }

  for (const [what, given, reason] of [
    [
      'a source label without a valid name',
      { endpoint: { relabelings: [{ sourceLabels: ['('], action: 'drop' }] } },
      `endpoint[0]: relabelConfigs: [0]: "(" is invalid 'source_labels'`,
    ],
    [
      'a label of pods that cannot be a label of targets',
      { monitor: { podTargetLabels: ['1a'] } },
      'endpoint[0]: podTargetLabels: "1a" is not a valid label name',
    ],
    [
      'the address of a proxy that is no URL',
      { endpoint: { proxyUrl: 'http://x|y' } },
      'endpoint[0]: proxyUrl is not a valid URL',
    ],
    [
      'a limit of 64 bits and more',
      { monitor: { bodySizeLimit: '8EB' } },
      'endpoint[0]: bodySizeLimit 8EB is too large',
    ],
  ] as const) {
    it(`refuses ${what}, with which Prometheus would refuse all jobs`, () => {
      expect(reasonsOf(configure({ prometheus: { version: 'v2.53.0' }, ...given }))).to.deep.equal([reason]);
    });
  }

  it('refuses the name of a port that is no regular expression', () => {
    expect(reasonsOf(configure({ endpoint: { port: '(' } }))[0]).to.match(
      /^endpoint\[0\]: invalid regex \( /,
    );
  });

  it('reads a long template of a label in linear time', () => {
    const endpoint = { relabelings: [{ targetLabel: `${'$a'.repeat(50_000)}-`, action: 'replace' }] };
    expect(reasonsOf(configure({ prometheus: { version: 'v2.53.0' }, endpoint }))).to.have.length(1);
  });

  it('escapes dots in the values of selectors, which regular expressions would read otherwise', () => {
    const monitor = {
      selector: {
        matchLabels: { version: '1.2' },
        matchExpressions: [{ key: 'tier', operator: 'NotIn', values: ['a.b', 'c'] }],
      },
    };
    const relabelings = jobsOf(configure({ monitor }))[0]?.relabel_configs as readonly { regex?: string }[];
    expect(relabelings.map(({ regex }) => regex)).to.include.members(['(1\\.2);true', '(a\\.b|c);true']);
  });

  it('adds the enforced label to targets of a ScrapeConfig without relabelings', () => {
    const configured = configure({
      prometheus: { enforcedNamespaceLabel: 'tenant' },
      scrapeConfig: { staticConfigs: [{ targets: ['a:1'] }] },
    });
    const job = jobsOf(configured).find(({ job_name: name }) => name === 'scrapeConfig/shop/a');
    const label = { target_label: 'tenant', replacement: 'shop' };
    expect(job?.relabel_configs).to.deep.include(label);
    expect(job?.metric_relabel_configs).to.deep.include(label);
  });

  it('refuses discoveries that it does not support by name', () => {
    const scrapeConfig = { ec2SDConfigs: [{}], gceSDConfigs: [{}] };
    expect(reasonsOf(configure({ scrapeConfig }))).to.deep.equal([
      'ec2SDConfigs, gceSDConfigs: not supported',
    ]);
  });

  it('appends additional jobs as they are, and distributes them among shards', () => {
    const secret = { jobs: '- job_name: own\n- job_name: hashed\n  relabel_configs: [{action: hashmod}]\n' };
    const additionalScrapeConfigs = { name: 'a', key: 'jobs' };
    const ofShards = (shards: number) =>
      jobsOf(configure({ prometheus: { shards, additionalScrapeConfigs }, secret })).slice(1);
    const hashed = { job_name: 'hashed', relabel_configs: [{ action: 'hashmod' }] };
    expect(ofShards(1)).to.deep.equal([{ job_name: 'own' }, hashed]);
    const [own, unchanged] = ofShards(2);
    expect(own?.relabel_configs).to.deep.include({
      source_labels: ['__tmp_hash'],
      target_label: '__tmp_hash',
      modulus: 2,
      action: 'hashmod',
    });
    expect(unchanged).to.deep.equal(hashed);
  });

  for (const [what, prometheus, secret, message] of [
    [
      'a job that exists twice',
      { additionalScrapeConfigs: { name: 'a', key: 'jobs' } },
      { jobs: '- job_name: podMonitor/shop/a/0\n' },
      'additionalScrapeConfigs: job "podMonitor/shop/a/0" exists twice',
    ],
    [
      'additional jobs that are no list',
      { additionalScrapeConfigs: { name: 'a', key: 'jobs' } },
      { jobs: 'job_name: a\n' },
      'additionalScrapeConfigs: not a list of objects',
    ],
    [
      'additional jobs that are no list, though their Secret may be absent',
      { additionalScrapeConfigs: { name: 'a', key: 'jobs', optional: true } },
      { jobs: 'job_name: a\n' },
      'additionalScrapeConfigs: not a list of objects',
    ],
    [
      'an external label that the version does not accept',
      { version: 'v2.53.0', externalLabels: { 'a-b': 'c' } },
      {},
      'external label "a-b" is not a valid name',
    ],
    [
      'two default scrape classes',
      {
        scrapeClasses: [
          { name: 'a', default: true },
          { name: 'b', default: true },
        ],
      },
      {},
      'multiple default scrape classes defined',
    ],
    ['an unsupported version', { version: 'v4.0.0' }, {}, 'unsupported Prometheus version "v4.0.0"'],
    ['a text that is no version', { version: 'latest' }, {}, 'unsupported Prometheus version "latest"'],
  ] as const) {
    it(`refuses ${what}`, () => {
      expect(() => configure({ prometheus, secret })).to.throw(message);
    });
  }

  it('writes parameters by any name, also by names of properties of every object', () => {
    const params = { constructor: ['b'], toString: ['c'] };
    const [job] = jobsOf(configure({ endpoint: { params } }));
    expect(job?.params).to.deep.equal(params);
  });
});
