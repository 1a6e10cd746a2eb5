import { expect } from 'chai';
import { failedBy, note, ok } from '#lib/doctor/check.ts';
import { formatResult, formatSummary } from '#lib/doctor/doctor.ts';

const failed = failedBy({
  'node-clock-skewed': {
    title: "The node's clock is wrong",
    remedy: 'Set the clock of NODE: `timedatectl`.',
  },
});

describe('formatResult', () => {
  const result = (findings: Parameters<typeof formatResult>[0]['findings']) =>
    formatResult({ name: 'node-clocks', title: 'Node clocks', durationMs: 3, findings });

  const skewed = (node: string) =>
    failed(`node "${node}"`, 'an hour ahead', { diagnosis: 'node-clock-skewed', NODE: node });

  it('prints one line per finding, with the remedy of a problem below', () => {
    const unchecked = {
      status: 'unchecked',
      subject: 'pods',
      seen: 'the permission to list pods is missing',
    } as const;
    expect(result([skewed('a'), ok('node "b"', 'right'), note('node "c"', 'slow'), unchecked])).to.equal(
      [
        'Node clocks',
        '  ✓ node "b": right',
        '  ✗ node "a": The node\'s clock is wrong: an hour ahead',
        '      remedy: Set the clock of a: `timedatectl`.',
        '  – node "c": slow',
        '  ? pods: could not check: the permission to list pods is missing',
        '',
      ].join('\n'),
    );
  });

  it('prints problems of the same kind as one group, with one remedy for all objects', () => {
    expect(result([skewed('a'), note('node "c"', 'slow'), skewed('b')])).to.equal(
      [
        'Node clocks',
        "  ✗ The node's clock is wrong (2):",
        '      node "a": an hour ahead',
        '      node "b": an hour ahead',
        '      remedy: Set the clock of NODE: `timedatectl`.',
        '  – node "c": slow',
        '',
      ].join('\n'),
    );
    expect(result([skewed('a'), skewed('a')])).to.match(/^ {6}remedy: Set the clock of a: `timedatectl`\.$/m);
  });

  it('lists ten objects of a group, and counts the others', () => {
    const group = (count: number) =>
      result(Array.from({ length: count }, (_, index) => skewed(`n${index}`))).split('\n');
    expect(group(10).slice(11)).to.deep.equal([
      '      node "n9": an hour ahead',
      '      remedy: Set the clock of NODE: `timedatectl`.',
      '',
    ]);
    expect(group(11).slice(11)).to.deep.equal([
      '      node "n9": an hour ahead',
      '      and 1 more',
      '      remedy: Set the clock of NODE: `timedatectl`.',
      '',
    ]);
  });

  it('does not group problems whose cause has another remedy', () => {
    const silent = failedBy({ silent: { title: 'Silent', remedy: 'REMEDY' } });
    const found = ['Start it.', 'Allow it.'].map((remedy) =>
      silent('a', 'x', { diagnosis: 'silent', remedy }),
    );
    expect(result(found)).to.equal(
      'Node clocks\n  ✗ a: Silent: x\n      remedy: Start it.\n  ✗ a: Silent: x\n      remedy: Allow it.\n',
    );
  });

  it('prints foreign text on one line, with control characters escaped', () => {
    const words = 'no\n  ✓ node "b": well\x1b[2J\x1b[H\u202e\x9b1A';
    const fault = failed(`node "${words}"`, words, { diagnosis: 'node-clock-skewed', NODE: words });
    const lines = result([fault, ok('node', words), note('node', words)]).split('\n');
    expect(lines).to.have.length(6);
    expect(lines.filter((line) => line.startsWith('  ✓'))).to.have.length(1);
    expect(lines.join('')).not.to.match(/[\p{Cc}\p{Cf}]/u);
    expect(lines.join('')).to.include('\\u001b[2J');
  });

  it('truncates long text', () => {
    const [, line = ''] = result([note('node', 'x'.repeat(1e6))]).split('\n');
    expect(line).to.have.length.below(2_100);
    expect(line).to.match(/x…$/);
  });

  it('counts successful findings if there are many', () => {
    expect(result(Array.from({ length: 5000 }, () => ok('node', 'right')))).to.equal(
      'Node clocks\n  ✓ 5000 passed\n',
    );
  });
});

describe('formatSummary', () => {
  const passed = [ok('a', 'right')];
  const fault = (subject: string) => failed(subject, 'an hour ahead', { diagnosis: 'node-clock-skewed' });
  const unchecked = { status: 'unchecked', subject: 'pods', seen: 'no permission' } as const;
  const summary = (checks: readonly Parameters<typeof formatResult>[0]['findings'][], planned?: number) =>
    formatSummary(
      checks.map((findings) => ({ name: 'clocks', title: 'Clocks', durationMs: 3, findings })),
      planned,
    );

  it('counts the checks that passed', () => {
    expect(summary([passed])).to.equal('1 check passed');
    expect(summary([passed, [note('b', 'none exist')]])).to.equal('2 checks passed');
    expect(summary([passed, [unchecked]])).to.equal('1 check passed; 1 could not check everything');
  });

  it('counts the checks that failed, and names each object once, up to ten', () => {
    expect(summary([[fault('node a'), fault('node b'), unchecked], [fault('node a')], passed])).to.equal(
      '2 of 3 checks failed: node a, node b',
    );
    const nodes = Array.from({ length: 11 }, (_, index) => fault(`n${index}`));
    const ten = 'n0, n1, n2, n3, n4, n5, n6, n7, n8, n9';
    expect(summary([nodes.slice(0, 10), [unchecked]])).to.equal(
      `1 of 2 checks failed; 1 could not check everything: ${ten}`,
    );
    expect(summary([nodes])).to.equal(`1 of 1 check failed: ${ten} and 1 more`);
    expect(summary([[fault('API server')]], 8)).to.equal('1 of 8 checks failed; 7 did not run: API server');
  });

  it('escapes control characters of names', () => {
    expect(summary([[fault('node\x1b[2J')]])).to.equal('1 of 1 check failed: node\\u001b[2J');
  });
});
