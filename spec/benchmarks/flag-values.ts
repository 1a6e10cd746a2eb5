/** Parses a flag's number of seconds, which may be fractional. */
export function secondsOf(flag: string, text: string, min: 'any' | 'some' = 'some'): number {
  const isAmount = /^\d+(\.\d+)?$/.test(text) && (Number(text) > 0 || min === 'any');
  if (!isAmount) throw new Error(`Cannot use --${flag}=${text}: must be a number of seconds, such as 0.5`);
  return Number(text);
}

/** Parses a flag's integer. */
export function countOf(flag: string, text: string, min: 0 | 1): number {
  if (!/^\d{1,6}$/.test(text) || Number(text) < min)
    throw new Error(`Cannot use --${flag}=${text}: must be an integer, ${min} or more`);
  return Number(text);
}

/** Parses a flag's command line: a program and its first arguments. */
export function commandOf(flag: string, text: string): [string, ...string[]] {
  const [program, ...args] = text.trim().split(/\s+/);
  if (!program) throw new Error(`Cannot use --${flag}=: must be a command line`);
  return [program, ...args];
}

/** @returns the selected elements of `all`, in the order of `all` */
export function chosen<Name extends string>(
  flag: string,
  text: string,
  all: readonly Name[],
): readonly Name[] {
  const names = text.split(',');
  for (const name of names) {
    if (!all.some((one) => one === name))
      throw new Error(`Cannot use --${flag}=${text}: must be a list of ${all.join(',')}`);
  }
  return all.filter((one) => names.includes(one));
}
