import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { DELIBERATE_DIFFERENCES } from './deliberate-differences.ts';
import { readCases } from './recorded-case.ts';
import { replayCase } from './replay-case.ts';

const FILE = 'spec/fixtures/prometheus-operator/cases.jsonl.gz';

/** Cases that differ, and why. */
const DIFFERENT: Readonly<Record<string, readonly string[]>> = {
  'sc-proxy-env-kubernetes': ['discovery-without-api-server'],
  'sc-kubernetes': ['discovery-without-api-server'],
  'prom-version-v2-25-0': ['unused-discovery'],
  'prom-version-v2-36-2': ['unused-discovery'],
  'conf-apiserver-token': ['two-authentications'],
  'rr-bearer': ['two-authentications'],
  'mon-enforced-label': ['enforced-label'],
  'mon-enforced-excluded': ['enforced-label'],
  'reject-sm-endpoints': ['authorization-without-credentials', 'two-authentications'],
  'reject-sm-relabelings-v2': ['template-target'],
  'reject-probe': ['two-authentications', 'ipv6-prober'],
  'crash-authorization': ['crash'],
};

/** Cases with something that does not exist yet. */
const NOT_BUILT: Readonly<Record<string, readonly string[]>> = {
  'discoveries of clouds': [
    ...['sc-ec2', 'sc-azure', 'sc-gce', 'sc-openstack', 'sc-misc-sd', 'reject-sc', 'reject-sc-v2'],
  ],
  'checks of rules': ['reject-rules', 'reject-rules-v2'],
};

describe('the recorded configurations of prometheus-operator', () => {
  const cases = readCases(FILE);
  const replayed = cases.map(replayCase);

  it('are complete', () => {
    expect(cases).to.have.length(186);
    expect(new Set(cases.map(({ name }) => name))).to.have.property('size', 186);
  });

  it('equal ours except for deliberate differences and what is not built', () => {
    const differing = replayed.filter(({ outcome }) => outcome === 'differs');
    expect(differing.filter(({ why }) => why !== undefined)).to.deep.equal([]);
    expect(Object.fromEntries(differing.map(({ name, deliberate }) => [name, deliberate]))).to.deep.equal(
      DIFFERENT,
    );
    const notBuilt = Map.groupBy(
      replayed.filter(({ outcome }) => outcome === 'not built'),
      ({ why = '' }) => why,
    );
    const names = [...notBuilt].map(([why, ofReason]) => [why, ofReason.map(({ name }) => name)]);
    expect(Object.fromEntries(names)).to.deep.equal(NOT_BUILT);
    expect(replayed.filter(({ outcome }) => outcome === 'agrees')).to.have.length(165);
  });

  it('differ for the reasons that the reference lists', () => {
    const page = readFileSync('docs/reference/prometheus-operator.md', 'utf8');
    const [, table = ''] = page.split('## Deliberate differences');
    const listed = [...table.matchAll(/^\| `([a-z0-9-]+)` \|/gm)].map(([, name]) => name);
    expect(listed).to.deep.equal([...DELIBERATE_DIFFERENCES]);
  });

  it('reveal a changed field, a missing job and an object that is not refused', () => {
    const agreeing = new Set(replayed.filter(({ outcome }) => outcome === 'agrees').map(({ name }) => name));
    const changes: readonly (readonly [RegExp, string])[] = [
      [/regex: \(Failed\|Succeeded\)/, 'regex: (Failed)'],
      [/target_label: endpoint/, 'target_label: other'],
      [/scrape_interval: 30s/, 'scrape_interval: 31s'],
    ];
    const rewritten = changes.flatMap(([from, to]) =>
      cases
        .filter(({ name }) => agreeing.has(name) && from.test(lastFileOf(name)))
        .slice(0, 20)
        .map((recorded) => JSON.parse(JSON.stringify(recorded).replace(from, to)) as typeof recorded),
    );
    expect(rewritten).to.have.length(60);
    expect(rewritten.map(replayCase).filter(({ outcome }) => outcome !== 'differs')).to.deep.equal([]);
    const refusing = cases.filter(({ name }) => name === 'reject-pm-endpoints');
    const accepted = refusing.map((recorded) => ({
      ...recorded,
      steps: recorded.steps.map((step) => ({ ...step, result: { ...step.result, events: [] } })),
    }));
    expect(accepted.map(replayCase)[0]).to.deep.include({ outcome: 'differs' });
  });

  function lastFileOf(name: string): string {
    const files = cases
      .find((recorded) => recorded.name === name)
      ?.steps.flatMap(({ result }) =>
        Object.values(result.objects).map(({ data }) => data?.['prometheus.yaml']),
      );
    return files?.at(-1) ?? '';
  }
});
