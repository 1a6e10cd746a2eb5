import { execFile } from 'node:child_process';
import { assertRequested } from './requested-programs.ts';

/** Output of a program and its exit status, which is `undefined` if it was killed at its deadline. */
export interface ProgramRun {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitStatus: number | undefined;
}

/** Runs a program and kills it after `timeoutMs`. @throws Error for a program that was not requested */
export async function runToEnd(
  command: string,
  args: readonly string[],
  timeoutMs: number,
): Promise<ProgramRun> {
  assertRequested(command);
  return await new Promise((settle) => {
    const limits = { timeout: timeoutMs, killSignal: 'SIGKILL', maxBuffer: 2 ** 26 } as const;
    execFile(command, args, limits, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      settle({ stdout, stderr, exitStatus: typeof code === 'number' ? code : undefined });
    });
  });
}
