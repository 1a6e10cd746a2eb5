import { expect } from 'chai';
import { boolean, duration, type FlagSection, flag, text } from '#lib/flags/flag.ts';
import { formatHelp, formatMarkdown } from '#lib/flags/format-flags.ts';

const SECTIONS: readonly FlagSection[] = [
  {
    title: 'General flags',
    flags: {
      resolutionMs: flag('metric-resolution', duration, { default: 60_000, description: 'How often.' }),
      help: flag('help', boolean, { shorthand: 'h', default: false, description: 'Print this | that.' }),
      old: flag('old', text, { default: 'x', description: '', ignoredBecause: 'no meaning' }),
    },
  },
  {
    title: 'Other flags',
    flags: {
      name: flag('name', text, { default: '', description: 'word '.repeat(30).trim() }),
      older: flag('older', text, { default: 'x', description: '', ignoredBecause: 'no meaning' }),
    },
  },
  {
    title: 'Flags without effect',
    flags: { yet: flag('yet', boolean, { default: true, description: '', ignoredBecause: 'not yet' }) },
  },
];

describe('formatHelp', () => {
  it('aligns descriptions with defaults, and lists flags without effect last', () => {
    const long = (count: number) => 'word '.repeat(count).trim();
    expect(formatHelp('program [flags]', SECTIONS).split('\n')).to.deep.equal([
      'Usage: program [flags]',
      '',
      'General flags:',
      '',
      '      --metric-resolution duration   How often. (default 1m0s)',
      '  -h, --help                         Print this | that.',
      '',
      'Other flags:',
      '',
      `      --name string                  ${long(14)}`,
      `                                     ${long(14)}`,
      `                                     ${long(2)}`,
      '',
      'Accepted without effect (no meaning):',
      '',
      '      --old, --older',
      '',
      'Accepted without effect (not yet):',
      '',
      '      --yet',
      '',
    ]);
  });
});

describe('formatMarkdown', () => {
  it('formats a table per section, and lists flags without effect last', () => {
    expect(formatMarkdown(SECTIONS).split('\n')).to.deep.equal([
      '### General flags',
      '',
      '| flag | default | |',
      '| --- | --- | --- |',
      '| `--metric-resolution duration` | `1m0s` | How often. |',
      '| `--help`, `-h` |  | Print this \\| that. |',
      '',
      '### Other flags',
      '',
      '| flag | default | |',
      '| --- | --- | --- |',
      `| \`--name string\` |  | ${'word '.repeat(30).trim()} |`,
      '',
      '### Accepted without effect (no meaning)',
      '',
      '`--old`, `--older`',
      '',
      '### Accepted without effect (not yet)',
      '',
      '`--yet`',
      '',
    ]);
  });
});
