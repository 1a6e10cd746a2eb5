export interface Instruction {
  readonly keyword: string;
  readonly argument: string;
}

/** Instructions from one FROM to the next. */
export interface Stage {
  /** Base image, with the defaults of the global arguments substituted. */
  readonly base: string;
  /** Name after AS; empty for the last stage. */
  readonly name: string;
  readonly instructions: readonly Instruction[];
}

/**
 * Parses the syntax that this project's Dockerfile uses: arguments in base names, stages of instructions, comments and
 * line continuations.
 */
export function parseDockerfile(text: string): readonly Stage[] {
  const lines = text
    .replaceAll(/^\s*#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const defaults = new Map<string, string>();
  const stages: { base: string; name: string; instructions: Instruction[] }[] = [];
  for (const line of lines) {
    const [, keyword = '', argument = ''] = /^(\S+)\s+(.*)$/.exec(line.trim()) ?? [];
    if (keyword.toUpperCase() === 'FROM') {
      const [, base = '', name = ''] = /^(\S+)(?:\s+AS\s+(\S+))?$/i.exec(argument) ?? [];
      const image = base.replaceAll(/\$\{(\w+)\}/g, (_, argument) => defaults.get(argument) ?? '');
      stages.push({ base: image, name, instructions: [] });
    } else if (stages.length === 0 && keyword.toUpperCase() === 'ARG') {
      const [, argumentName = '', value = ''] = /^(\w+)=(\S+)$/.exec(argument) ?? [];
      defaults.set(argumentName, value);
    } else {
      stages.at(-1)?.instructions.push({ keyword: keyword.toUpperCase(), argument });
    }
  }
  return stages;
}
