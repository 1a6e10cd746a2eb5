import { factsOf, type Place } from '#lib/scaled-objects/triggers/parameters/parameter.ts';
import type { Trigger } from '#lib/scaled-objects/triggers/trigger.ts';

const LETTERS: Readonly<Record<Place, string>> = { metadata: 'M', authentication: 'A', environment: 'E' };

/** What triggers take, as the documentation has it: a section and a table for each, made of their schemas. */
export function formatTriggerTables(triggers: readonly Trigger[]): string {
  const sections = triggers.map(({ types, description, parameters }) => {
    const rows = Object.entries(parameters.shape).map(([name, type]) => {
      const { from, description: what, aliases = [], default: fallback } = factsOf(type);
      const names = [name, ...aliases].map((one) => `\`${one}\``).join(', ');
      const isNeeded = !type.safeParse(undefined).success;
      const value = isNeeded ? 'needed' : fallback === undefined ? '' : `\`${fallback}\``;
      return `| ${names} | ${from.map((place) => LETTERS[place]).join(' ')} | ${value} | ${cell(what)} |`;
    });
    return [
      `## ${types.map((type) => `\`${type}\``).join(', ')}`,
      '',
      description,
      '',
      ...(rows.length === 0
        ? []
        : ['| parameter | from | default | what it says |', '| --- | --- | --- | --- |', ...rows, '']),
    ];
  });
  return sections.flat().join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
