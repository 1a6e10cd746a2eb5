import { globSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { factsOf, type Place } from '#lib/scaled-objects/triggers/parameters/parameter.ts';
import type { Trigger } from '#lib/scaled-objects/triggers/trigger.ts';

const LETTERS: Readonly<Record<Place, string>> = { metadata: 'M', authentication: 'A', environment: 'E' };

const EXAMPLES = 'examples/scale-by-events/*.yaml';

/** The documentation of triggers: a section for each, with an example and a table from its schema. */
export function formatTriggerTables(triggers: readonly Trigger[]): string {
  const examples = readExamples();
  const sections = triggers.map(({ types, description, parameters }) => {
    const rows = Object.entries(parameters.shape).map(([name, type]) => {
      const { from, description: what, aliases, default: fallback } = factsOf(type);
      const names = [name, ...aliases].map((one) => `\`${one}\``).join(', ');
      const isNeeded = !type.safeParse(undefined).success;
      const value = isNeeded ? 'required' : fallback === undefined ? '' : `\`${fallback}\``;
      return `| ${names} | ${from.map((place) => LETTERS[place]).join(' ')} | ${value} | ${cell(what)} |`;
    });
    return [
      `## ${types.map((type) => `\`${type}\``).join(', ')}`,
      '',
      description,
      '',
      ...types.flatMap((type) => {
        const example = examples.get(type);
        return example === undefined ? [] : ['```yaml', example, '```', ''];
      }),
      ...(rows.length === 0
        ? []
        : ['| parameter | from | default | meaning |', '| --- | --- | --- | --- |', ...rows, '']),
    ];
  });
  return sections.flat().join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}

/** The objects of keda.sh in each example file, by the type of the trigger. */
function readExamples(): ReadonlyMap<string, string> {
  const examples = new Map<string, string>();
  for (const file of globSync(EXAMPLES)) {
    const documents = readFileSync(file, 'utf8').split(/^---\n/m);
    const shown = documents.filter((text) => text.startsWith('apiVersion: keda.sh/'));
    const { spec } = parse(shown.at(-1) ?? '');
    examples.set(spec.triggers[0].type, shown.join('---\n').trimEnd());
  }
  return examples;
}
