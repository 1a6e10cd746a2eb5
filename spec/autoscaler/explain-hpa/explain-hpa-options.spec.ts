import { expect } from 'chai';
import { parseExplainHpaOptions } from '#lib/autoscaler/explain-hpa/explain-hpa-options.ts';

describe('parseExplainHpaOptions', () => {
  it('takes a file, and tells a table of everything by default', () => {
    expect(parseExplainHpaOptions(['web.yaml'])).to.deep.equal({
      kind: 'explain',
      options: { file: 'web.yaml', loadFile: '', output: 'table', atMs: undefined },
    });
  });

  it('takes a load, a drawing or a moment', () => {
    const parsed = (...argv: string[]) => {
      const commandLine = parseExplainHpaOptions(argv);
      return commandLine.kind === 'explain' ? commandLine.options : undefined;
    };
    expect(parsed('-o', 'svg', 'a', '--load=b.csv')).to.include({ output: 'svg', loadFile: 'b.csv' });
    expect(parsed('a', '--at=0s')).to.include({ atMs: 0 });
    expect(parsed('a', '--at', '5m')).to.include({ atMs: 300_000 });
  });

  it('shows in its help no default of a moment, which it would refuse', () => {
    const commandLine = parseExplainHpaOptions(['--help']);
    const [said] = commandLine.kind === 'help' ? (commandLine.text.match(/--at duration[^-]*/) ?? []) : [];
    expect(said).to.match(/whole calculation\.\s*$/);
  });

  it('refuses what says nothing', () => {
    expect(() => parseExplainHpaOptions([])).to.throw('one file');
    expect(() => parseExplainHpaOptions(['a', 'b'])).to.throw('was given 2');
    expect(() => parseExplainHpaOptions(['a', '--at=-1s'])).to.throw(/--at.* must not be negative/);
    expect(() => parseExplainHpaOptions(['a', '--at=1s', '--output=svg'])).to.throw('in words');
    expect(() => parseExplainHpaOptions(['a', '--output=png'])).to.throw('table, svg');
  });
});
