interface ReplayProgram {
  /** Of the script in package.json. */
  readonly name: string;
  /** What its only argument names. */
  readonly argument: 'FILE' | 'FOLDER';
  /**
   * Prints how recordings compare.
   *
   * @returns whether nothing differs without a documented reason
   * @throws {Error} if the recordings cannot be read
   */
  replay(path: string): boolean | Promise<boolean>;
}

/** Runs a program that replays recordings. Its exit status is 1 if `replay` returns false, and 2 if it throws. */
export async function runReplay({ name, argument, replay }: ReplayProgram): Promise<void> {
  const usage = `Usage: npm run -s ${name} -- ${argument}\n`;
  const [path, ...more] = process.argv.slice(2);
  if (path === '--help' || path === '-h') {
    process.stdout.write(usage);
  } else if (path === undefined || more.length > 0) {
    process.stderr.write(usage);
    process.exitCode = 2;
  } else {
    try {
      if (!(await replay(path))) process.exitCode = 1;
    } catch (error) {
      process.stderr.write(`Cannot replay ${path}: ${(error as Error).message}\n`);
      process.exitCode = 2;
    }
  }
}
