/** The whole or fractional number of seconds that a flag was given. */
export function secondsOf(flag: string, text: string, least: 'any' | 'some' = 'some'): number {
  const isAmount = /^\d+(\.\d+)?$/.test(text) && (Number(text) > 0 || least === 'any');
  if (!isAmount) throw new Error(`Cannot use --${flag}=${text}: must be a number of seconds, such as 0.5`);
  return Number(text);
}

/** The whole number that a flag was given. */
export function countOf(flag: string, text: string, least: 0 | 1): number {
  if (!/^\d{1,6}$/.test(text) || Number(text) < least)
    throw new Error(`Cannot use --${flag}=${text}: must be an integer, ${least} or more`);
  return Number(text);
}

/** The command line that a flag was given: a program and its first arguments. */
export function commandOf(flag: string, text: string): [string, ...string[]] {
  const [program, ...args] = text.trim().split(/\s+/);
  if (!program) throw new Error(`Cannot use --${flag}=: must be a command line`);
  return [program, ...args];
}

/** @returns what is chosen of `all`, in the order of `all` */
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
