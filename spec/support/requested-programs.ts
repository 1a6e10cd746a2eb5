/** Programs of every machine that runs specs: Node and npm with this project's packages, a POSIX shell and its usual commands. */
const ORDINARY = ['node', 'npm', 'mocha', 'sh', '/bin/sh', 'env', 'chown', 'mkfifo', 'git'];

const requested = new Set<string>([...ORDINARY, process.execPath]);

/** Allows specs to run an installed program, by path. */
export function allowProgram(path: string): void {
  requested.add(path);
}

/**
 * Rejects programs that only some machines have, unless `requireProgram` or `findTool` found them.
 *
 * @throws Error for an installed program that was not requested; programs of this checkout and of temporary folders are allowed.
 */
export function assertRequested(command: string): void {
  const isOfMachine = !command.includes('/') || /^\/(?:usr|bin|sbin|opt)\//.test(command);
  if (!isOfMachine || requested.has(command)) return;
  throw new Error(`Cannot run ${command}: a machine may lack it, so request it with requireProgram`);
}
