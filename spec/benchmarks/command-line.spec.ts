import { expect } from 'chai';
import { parseCommandLine, USAGE } from './command-line.ts';

describe('parseCommandLine', () => {
  it('measures everything on small clusters by default', () => {
    const { scenarios, measure, against } = parseCommandLine([]);
    expect(scenarios.map(({ name }) => name)).to.deep.equal(['tiny', 'small']);
    expect(parseCommandLine([]).foreignText).to.equal(true);
    expect(parseCommandLine(['tiny']).foreignText).to.equal(false);
    expect(parseCommandLine([]).controllers).to.equal(false);
    expect(parseCommandLine([]).metricsAdapter).to.equal(false);
    expect(parseCommandLine(['metrics-adapter'])).to.deep.include({ scenarios: [], metricsAdapter: true });
    expect(parseCommandLine(['controllers'])).to.deep.include({ scenarios: [], controllers: true });
    expect(parseCommandLine([]).hpas).to.deep.equal([]);
    const namesOf = (...args: string[]) => parseCommandLine(args).hpas.map(({ name }) => name);
    expect(namesOf('hpa')).to.deep.equal(['hpa-5000', 'hpa-1000', 'hpa-changing']);
    expect(namesOf('hpa-changing', 'hpa-1000')).to.deep.equal(['hpa-1000', 'hpa-changing']);
    expect(parseCommandLine(['hpa-1000'])).to.deep.include({ scenarios: [], controllers: false });
    expect(parseCommandLine(['scaled-objects'])).to.deep.include({
      ...{ scenarios: [], hpas: [], scaledObjects: true },
    });
    expect(parseCommandLine(['foreign-text'])).to.deep.include({ scenarios: [], foreignText: true });
    expect(measure).to.include({ kubeletPsi: true, settleMs: 20_000, scrapeMs: 30_000, loadMs: 30_000 });
    expect(measure.loads.map(({ name }) => name)).to.deep.equal(['idle', 'hpa', 'top', 'dash', 'churn']);
    expect(measure.baseline).to.equal(true);
    expect(against).to.equal(undefined);
  });

  it('selects scenarios, requests and formats', () => {
    const { measure, against } = parseCommandLine([
      '--loads=churn,hpa',
      '--formats=json',
      '--without-psi',
      '--endpoint=resource',
      '--bare-scraper',
      '--requests=pod,label',
      '--beside=env A=b node one.js',
      '--beside=node two.js',
      '--against=node other.js',
    ]);
    expect(measure.loads.map(({ name }) => name)).to.deep.equal(['hpa', 'churn']);
    expect(measure.formats).to.deep.equal(['json']);
    expect(measure).to.include({ kubeletPsi: false, endpoint: 'resource', bareScraper: true });
    expect(measure.kinds.map(({ key }) => key)).to.deep.equal(['label', 'pod']);
    expect(measure.beside).to.deep.equal([
      ['env', 'A=b', 'node', 'one.js'],
      ['node', 'two.js'],
    ]);
    expect(against).to.deep.equal(['node', 'other.js']);
  });

  it('measures scraping alone with --scrape-only', () => {
    const { kinds, loads } = parseCommandLine(['tiny', '--scrape-only']).measure;
    expect([kinds, loads]).to.deep.equal([[], []]);
    expect(parseCommandLine(['--loads=none']).measure.loads).to.deep.equal([]);
  });

  it('omits the baseline with --without-baseline, and with --against', () => {
    expect(parseCommandLine(['--without-baseline']).measure.baseline).to.equal(false);
    expect(parseCommandLine(['--against=node other.js']).measure.baseline).to.equal(false);
  });

  it('refuses what it cannot use', () => {
    for (const [flag, rule] of [
      ['--rounds=-1', 'must be an integer, 0 or more'],
      ['--rounds=1.5', 'must be an integer, 0 or more'],
      ['--firsts=Infinity', 'must be an integer, 0 or more'],
      ['--turns=0', 'must be an integer, 1 or more'],
      ['--load-seconds=0', 'must be a number of seconds, such as 0.5'],
      ['--round-seconds=1e400', 'must be a number of seconds, such as 0.5'],
      ['--endpoint=stats', 'must be one of summary,resource'],
      ['--against=', 'must be a command line'],
      ['--beside=', 'must be a command line'],
      ['--requests=watch', 'must be a list of pods,namespace,label,pod,nodes'],
    ] as const)
      expect(() => parseCommandLine([flag])).to.throw(`Cannot use ${flag}: ${rule}`);
    expect(() => parseCommandLine(['--loads=all'])).to.throw('must be a list of idle,hpa,top,dash,churn');
    expect(() => parseCommandLine(['vast'])).to.throw('Cannot run scenario "vast"');
  });
});

describe('USAGE', () => {
  it('names every load', () => {
    for (const name of ['idle', 'hpa', 'top', 'dash', 'churn'])
      expect(USAGE).to.match(new RegExp(`^ +${name} `, 'm'));
  });
});
