import type { Flag, FlagSection } from './flag.ts';

const MAX_WIDTH = 110;

/** Formats the help text: all sections, with flags that have no effect listed last, by reason. */
export function formatHelp(usage: string, sections: readonly FlagSection[]): string {
  const effective = sections.map(({ title, flags }) => ({
    title,
    flags: Object.values(flags).filter(hasEffect),
  }));
  const width =
    Math.max(...effective.flatMap(({ flags }) => flags.map((flag) => formatHead(flag).length))) + 3;
  const parts = [
    `Usage: ${usage}`,
    ...effective
      .filter(({ flags }) => flags.length > 0)
      .map(({ title, flags }) => `${title}:\n\n${flags.map((flag) => formatEntry(flag, width)).join('\n')}`),
    ...ignoredByReason(sections).map(
      ([reason, flags]) =>
        `Accepted without effect (${reason}):\n\n${wrap(
          flags.map(({ name }) => `--${name}`).join(', '),
          MAX_WIDTH - 6,
        )
          .map((line) => `      ${line}`)
          .join('\n')}`,
    ),
  ];
  return `${parts.join('\n\n')}\n`;
}

function hasEffect({ ignoredBecause }: Flag<unknown>): boolean {
  return ignoredBecause === undefined;
}

function ignoredByReason(sections: readonly FlagSection[]): [string, Flag<unknown>[]][] {
  const ignored = sections.flatMap(({ flags }) => Object.values(flags)).filter((flag) => !hasEffect(flag));
  return [...Map.groupBy(ignored, ({ ignoredBecause }) => ignoredBecause ?? '')];
}

/** Empty for defaults that need no mention: unset, empty or false. */
function formatDefault({ kind, default: value }: Flag<unknown>): string {
  const isEmpty =
    value === undefined || value === '' || value === false || (Array.isArray(value) && value.length === 0);
  return isEmpty ? '' : kind.format(value);
}

function formatHead({ name, shorthand, kind }: Flag<unknown>): string {
  const short = shorthand === undefined ? '    ' : `-${shorthand}, `;
  return `  ${short}--${name} ${kind.placeholder}`.trimEnd();
}

function formatEntry(flag: Flag<unknown>, width: number): string {
  const fallback = formatDefault(flag);
  const text = `${flag.description}${fallback === '' ? '' : ` (default ${fallback})`}`;
  const [first = '', ...others] = wrap(text, MAX_WIDTH - width);
  return [formatHead(flag).padEnd(width) + first, ...others.map((line) => ' '.repeat(width) + line)].join(
    '\n',
  );
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else {
      line = line === '' ? word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}

/** Formats flags as Markdown: one table per section, with flags that have no effect listed last, by reason. */
export function formatMarkdown(sections: readonly FlagSection[]): string {
  const tables = sections
    .map(({ title, flags }) => ({ title, flags: Object.values(flags).filter(hasEffect) }))
    .filter(({ flags }) => flags.length > 0)
    .map(({ title, flags }) =>
      [`### ${title}`, '', '| flag | default | |', '| --- | --- | --- |', ...flags.map(formatRow)].join('\n'),
    );
  const ignored = ignoredByReason(sections).map(
    ([reason, flags]) =>
      `### Accepted without effect (${reason})\n\n${flags.map(({ name }) => code(`--${name}`)).join(', ')}`,
  );
  return `${[...tables, ...ignored].join('\n\n')}\n`;
}

function formatRow(flag: Flag<unknown>): string {
  const { name, shorthand, kind, description } = flag;
  const value = kind.placeholder === '' ? '' : ` ${kind.placeholder}`;
  const names = [`--${name}${value}`, ...(shorthand === undefined ? [] : [`-${shorthand}`])];
  const fallback = formatDefault(flag);
  return `| ${names.map(code).join(', ')} | ${fallback === '' ? '' : code(fallback)} | ${escapeCell(description)} |`;
}

function code(text: string): string {
  return `\`${text}\``;
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|');
}
