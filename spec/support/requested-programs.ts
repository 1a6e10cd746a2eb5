/** What every machine that runs specs has: Node and npm with what this project installs, a POSIX shell with its ordinary commands, and git. */
const ORDINARY = ['node', 'npm', 'mocha', 'sh', '/bin/sh', 'env', 'chown', 'mkfifo', 'git'];

const requested = new Set<string>([...ORDINARY, process.execPath]);

/** Allows specs to run a program of the machine, by the path at which it was found. */
export function allowProgram(path: string): void {
  requested.add(path);
}

/**
 * Keeps specs from running what only some machines have, unless `requireProgram` or `findTool` found it.
 *
 * @throws Error for a program of the machine that was not requested; those of this checkout and of temporary folders are not the machine's.
 */
export function assertRequested(command: string): void {
  const isOfMachine = !command.includes('/') || /^\/(?:usr|bin|sbin|opt)\//.test(command);
  if (!isOfMachine || requested.has(command)) return;
  throw new Error(`Cannot run ${command}: a machine may lack it, so request it with requireProgram`);
}
