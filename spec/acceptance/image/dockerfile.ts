/** One instruction of a Dockerfile. */
export interface Instruction {
  readonly keyword: string;
  readonly argument: string;
}

/** One stage of a Dockerfile, from one FROM to the next. */
export interface Stage {
  /** With the defaults of the arguments that stand before the first stage. */
  readonly base: string;
  /** Behind AS; empty for the last stage. */
  readonly name: string;
  readonly instructions: readonly Instruction[];
}

/**
 * Reads what this project's Dockerfile is written with: arguments for the names of bases, then stages of instructions,
 * with comments and continued lines.
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
