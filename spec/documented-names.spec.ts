import { existsSync, globSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parseExplainHpaOptions } from '#lib/autoscaler/explain-hpa.ts';
import { parseAutoscalerOptions } from '#lib/autoscaler/options/autoscaler-options.ts';
import { parseRenderOptions } from '#lib/prometheus-operator/render/render-options.ts';
import { DIAGNOSES } from '#lib/resource-metrics/doctor/diagnoses.ts';
import { parseOptions } from '#lib/resource-metrics/options.ts';
import { USAGE } from '#spec/benchmarks/command-line.ts';
import { autoscalerDiagnoses } from '#spec/support/autoscaler-diagnoses.ts';
import { autoscalerSeries } from '#spec/support/autoscaler-series.ts';
import { seriesNames, servedSeries } from '#spec/support/served-series.ts';

// Flags of other programs that the documents mention.
const KUBECTL =
  'all ignore-not-found cert key api-version chunk-size clusterrole for force-conflicts insecure-skip-tls-verify namespace non-resource-url raw replicas resource server server-side serviceaccount timeout type user verb resource-name role list as';
const HELM = 'install logs reset-then-reuse-values reuse-values set take-ownership';
const K3S = 'disable';
const NPM = 'include loglevel no-audit no-fund omit';
const SIMULATOR = 'autoscaler kubelet-port nodes pods-per-node port';
const KUBE_APISERVER = 'proxy-client-cert-file proxy-client-key-file';
const KUBELET = 'housekeeping-interval node-ip';
const V8 = 'external-memory-accounted-in-global-limit optimize-for-size';
const FOREIGN_FLAGS = [KUBECTL, HELM, K3S, NPM, SIMULATOR, KUBE_APISERVER, KUBELET, V8].flatMap((flags) =>
  flags.split(' '),
);

/** Matches names of series: of our programs, of Kubernetes' servers and controllers, of a Node process. */
const SERIES =
  /\b(?:metrics_server|cronhpa|workqueue|apiserver|authentication|authorization|process|nodejs)_[a-z0-9_]*[a-z0-9]\b/g;
// Series of metrics-server that have another name here.
const FOREIGN_SERIES = ['authentication_attempts'];

const BENCHMARK = /ARGS='[^']*'/g;

const flagsIn = (text: string) =>
  [...text.matchAll(/(?<![\w-])--([a-z][a-z0-9-]+)/g)].map(([, flag = '']) => flag);

describe('documents, alerts and remedies', () => {
  const documents = new Map(
    ['README.md', ...globSync('docs/**/*.md')].map((path) => [path, readFileSync(path, 'utf8')]),
  );
  documents.set(
    'remedies',
    [...Object.values(DIAGNOSES), ...Object.values(autoscalerDiagnoses())]
      .map(({ remedy }) => remedy)
      .join('\n'),
  );
  for (const chart of ['metrics-server', 'autoscaler']) {
    for (const name of ['prometheus-rule.yaml', 'dashboard.json']) {
      const path = `manifests/charts/${chart}/monitoring/${name}`;
      documents.set(path, readFileSync(path, 'utf8'));
    }
  }

  it('mention only existing flags', () => {
    for (const [path, text] of documents) {
      const flags = flagsIn(text.replaceAll(BENCHMARK, ''));
      expect(
        flags.filter((flag) => !FOREIGN_FLAGS.includes(flag) && !exists(flag)),
        path,
      ).to.deep.equal([]);
    }
  });

  it('mention only existing flags of benchmarks', () => {
    const existing = flagsIn(USAGE);
    for (const [path, text] of documents) {
      const named = [...text.matchAll(BENCHMARK)].flatMap(([command]) => flagsIn(command));
      expect(
        named.filter((flag) => !existing.includes(flag)),
        path,
      ).to.deep.equal([]);
    }
  });

  it('mention only series that a server or an autoscaler exposes', async () => {
    const exposed = new Set([...seriesNames(await servedSeries()), ...seriesNames(await autoscalerSeries())]);
    const families = new Set([...exposed].map((name) => name.replace(/_(bucket|sum|count)$/, '')));
    for (const [path, text] of documents) {
      const named = [...text.matchAll(SERIES)].map(([name]) => name);
      expect(
        named.filter((name) => !exposed.has(name) && !families.has(name) && !FOREIGN_SERIES.includes(name)),
        path,
      ).to.deep.equal([]);
    }
  });

  it('mention only existing subcommands, make targets and files', () => {
    const targets = new Set(readFileSync('Makefile', 'utf8').match(/^[a-z]+(?=:)/gm));
    for (const [path, text] of documents) {
      const commands = [...text.matchAll(/`(?:metrics-server|autoscaler) ([a-z-]+)/g)].map(
        ([, command]) => command,
      );
      expect(
        commands.filter((command = '') => !['doctor', 'explain-hpa'].includes(command)),
        path,
      ).to.deep.equal([]);
      const made = [...text.matchAll(/(?:`|\$ )make ([a-z]+)/g)].map(([, target = '']) => target);
      expect(
        made.filter((target) => !targets.has(target)),
        path,
      ).to.deep.equal([]);
      const files = [...text.matchAll(/\b(?:manifests|docs)\/[\w./-]*\w/g)].map(([file]) => file);
      expect(
        files.filter((file) => !existsSync(file)),
        path,
      ).to.deep.equal([]);
    }
  });
});

describe('docs/reference/events-and-conditions.md', () => {
  it('has each event, condition and reason of the controllers', () => {
    const page = readFileSync('docs/reference/events-and-conditions.md', 'utf8');
    const names = globSync('lib/{hpa,cron-hpa,scaled-objects,metrics-adapter}/**/*.ts').flatMap((path) =>
      reasonsIn(readFileSync(path, 'utf8')),
    );
    expect(names).to.include.members([
      'ScheduleMissed',
      'KEDAScalerFailed',
      'HPAActive',
      'FailedGetScale',
      'ErrorGettingCurrentReplicas', // of a call over several lines
    ]);
    const missing = names.filter((name) => name !== 'Forbidden' && !page.includes(`\`${name}\``));
    expect([...new Set(missing)]).to.deep.equal([]);
  });
});

/** Finds events, types of conditions and their reasons, as the code writes them. */
function reasonsIn(code: string): readonly string[] {
  return [
    /\b(?:reason|eventReason|failureReason): '([A-Z]\w+)'/g,
    /\b(?:warning|normal|recordUnwritten)\(\s*'([A-Z]\w+)'/g,
    /\bcondition\(\s*'(\w+)'/g,
    /\bcondition\(\s*'\w+',\s*'\w+',\s*'(\w+)'/g,
    /'(KEDA[A-Z]\w+)'/g,
  ].flatMap((pattern) => [...code.matchAll(pattern)].map(([, name = '']) => name));
}

const HELPS = [
  parseOptions(['--help']),
  parseOptions(['doctor', '--help']),
  parseAutoscalerOptions(['--help']),
  parseExplainHpaOptions(['--help']),
  parseAutoscalerOptions(['doctor', '--help']),
  parseRenderOptions(['--help']),
];

/** Whether a flag, or a prefix that ends with `-`, exists in one of our commands. */
function exists(flag: string): boolean {
  return HELPS.some((help) => {
    const names =
      help.kind === 'help' ? [...help.text.matchAll(/--([a-z0-9-]+)/g)].map(([, name]) => name) : [];
    return names.some((name) => name === flag || (flag.endsWith('-') && name?.startsWith(flag)));
  });
}
