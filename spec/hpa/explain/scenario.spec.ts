import { expect } from 'chai';
import { parseScenario } from '#lib/hpa/explain/scenario.ts';
import { describeError } from '#lib/telemetry/logger.ts';
import { SCENARIO } from './built-scenario.ts';

describe('parseScenario', () => {
  it('fills in defaults', () => {
    const scenario = parseScenario(SCENARIO);
    expect(scenario).to.deep.include({
      replicas: 4,
      syncPeriodMs: 15_000,
      startupMs: 30_000,
      durationMs: 900_000,
    });
    expect(scenario.config).to.deep.include({ tolerance: 0.1, downscaleStabilizationMs: 300_000 });
    expect(scenario.hpa.metadata).to.deep.equal({ name: 'web', namespace: 'default' });
    expect(scenario.load[1]).to.deep.equal({ atMs: 60_000, values: { cpu: '400m' } });
  });

  it('fills in what the API server does', () => {
    const { hpa } = parseScenario(SCENARIO.replace('maxReplicas: 20', 'maxReplicas: 20\n    behavior: {}'));
    expect(hpa.spec.behavior?.scaleUp?.policies).to.have.length(2);
  });

  it('takes the load as CSV, inside or beside', () => {
    const load = [{ atMs: 0, values: { cpu: '1' } }];
    const inside = `${SCENARIO.split('load:')[0]}load: |\n  at,cpu\n  0s,1\n`;
    expect(parseScenario(inside).load).to.deep.equal(load);
    expect(parseScenario(SCENARIO, { loadText: 'at,cpu\n0s,1' }).load).to.deep.equal(load);
  });

  it('tells all that is wrong, each by its place, and not how it was found', () => {
    const wrong = SCENARIO.replace('replicas: 4', 'replicas: -4').replace('15m', 'long');
    const said = (text: string) => {
      try {
        return parseScenario(text, { file: 'web.yaml' }).replicas;
      } catch (error) {
        return describeError(error); // as the command does
      }
    };
    expect(said(wrong)).to.equal(
      'Cannot read web.yaml: replicas: Too small: expected number to be >=0; duration: "long" is no duration like 1m30s',
    );
    expect(said(SCENARIO.replace('200m', 'much'))).to.equal(
      'Cannot read the load of web.yaml: load: 0.cpu: "much" is no quantity',
    );
  });

  const WRONG: readonly [what: string, from: string | RegExp, to: string, problem: string | RegExp][] = [
    ['a field that it does not know', 'replicas: 4', 'replicas: 4\nreplica: 5', 'Unrecognized key'],
    ['a duration that is none', '15m', 'long', '"long" is no duration like 1m30s'],
    ['a quantity that is none', '200m', 'much', '"much" is no quantity'],
    ['bounds that cross', 'minReplicas: 2', 'minReplicas: 30', 'minReplicas exceeds maxReplicas'],
    ['a metric of no type', 'type: Resource', 'type: Resources', 'type: must be Resource,'],
    ['points out of order', 'at: 5m', 'at: 1m', 'no later than the one before'],
    ['more work than it does', 'maxReplicas: 20', 'maxReplicas: 2000000', 'decisions times replicas exceed'],
    [
      'a load of what is no metric',
      'at: 5m, cpu',
      'at: 5m, cup',
      "cup: must be one of the HPA's metrics, cpu",
    ],
    ['what is no YAML', 'replicas: 4', 'replicas: [4', 'no YAML: bad indent in line'],
    ['a period of no length', 'duration:', 'syncPeriod: 0s\nduration:', 'syncPeriod: must be at least 1s'],
  ];
  it('names the file, the field and the rule', () => {
    const text = SCENARIO.replace('maxReplicas: 20', 'maxReplicas: 0');
    const complaint = 'Cannot read web.yaml: hpa.spec.maxReplicas: Too small: expected number to be >0';
    expect(() => parseScenario(text, { file: 'web.yaml' })).to.throw(complaint);
    const load = { file: 'web.yaml', loadFile: 'web.csv', loadText: 'at,cpu\n0s,1\n1m,much' };
    expect(() => parseScenario(SCENARIO, load)).to.throw(
      'Cannot read the load of web.csv: line 3, cpu: "much"',
    );
  });

  for (const [what, from, to, problem] of WRONG) {
    it(`refuses ${what}`, () => expect(() => parseScenario(SCENARIO.replace(from, to))).to.throw(problem));
  }

  it('refuses texts without end, and aliases that multiply', () => {
    expect(() => parseScenario('#'.repeat(5_000_000))).to.throw('longer than');
    expect(() => parseScenario('a: &a [1]\nb: *a')).to.throw();
  });
});
