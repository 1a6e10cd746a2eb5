import type { Flag, FlagSection } from './flag.ts';
import { formatDefault, hasEffect, ignoredByReason } from './format-help.ts';

/** Writes the flags as Markdown: a table a section, and last the names of those that are accepted without effect. */
export function formatMarkdown(sections: readonly FlagSection[]): string {
  const tables = sections
    .map(({ title, flags }) => ({ title, flags: Object.values(flags).filter(hasEffect) }))
    .filter(({ flags }) => flags.length > 0)
    .map(({ title, flags }) =>
      [`### ${title}`, '', '| flag | default | |', '| --- | --- | --- |', ...flags.map(rowOf)].join('\n'),
    );
  const ignored = ignoredByReason(sections).map(
    ([reason, flags]) =>
      `### Accepted without effect (${reason})\n\n${flags.map(({ name }) => code(`--${name}`)).join(', ')}`,
  );
  return `${[...tables, ...ignored].join('\n\n')}\n`;
}

function rowOf(flag: Flag<unknown>): string {
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
