import { type ChildProcess, spawn } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { resolve } from 'node:path';

/** More would only stand in each other's way: many specs start programs of their own. */
const MOST_PROCESSES = 2;

/** How many processes of mocha are to run beside each other here. */
export const processes = Math.min(MOST_PROCESSES, availableParallelism());

/** Starts mocha so that neither it nor the programs that its specs start compile again what has been compiled before. */
export function startMocha(args: readonly string[], stdio: 'inherit' | 'pipe'): ChildProcess {
  const env = {
    ...process.env,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? resolve('.cache/compiled'),
  };
  return spawn('mocha', [...args], { stdio: ['inherit', stdio, stdio], env });
}
