import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { eventually } from './eventually.ts';
import { assertRequested } from './requested-programs.ts';

/** How a program ended: one of the two is set. */
export interface Ending {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** What to start a program with, besides its arguments. */
export interface SpawnOptions {
  /** What to call it in messages. */
  readonly name: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Hears every line as it is printed. */
  readonly onLine?: (line: string) => void;
}

/**
 * A program in a process and a session of its own: Ctrl-C does not reach it, and it does not outlive this process,
 * even if that is killed.
 */
export class SpawnedProgram implements AsyncDisposable {
  readonly #child: ChildProcess;
  readonly #output: string[] = [];
  readonly #onLine = new Set<() => void>();
  #hasEnded = false;
  /** What to call it in messages. */
  readonly name: string;
  /** Settles when the program has ended and its output has been read. */
  readonly ended: Promise<Ending>;

  constructor(command: string, args: readonly string[], options: SpawnOptions) {
    assertRequested(command);
    const { name, env = process.env, onLine } = options;
    const child = spawn(command, args, { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    this.name = name;
    if (onLine) this.#onLine.add(() => onLine(this.#output.at(-1) ?? ''));
    this.ended = new Promise((settle, refuse) => {
      child.once('error', (cause) => refuse(new Error(`Cannot start ${name}: ${cause.message}`, { cause })));
      child.once('close', (status, signal) => settle({ status, signal }));
    });
    const note = () => {
      this.#hasEnded = true;
    };
    this.ended.then(note, note); // a refusal is told to those who wait for a line or for the end
    this.#collect(child.stdout);
    this.#collect(child.stderr);
    if (child.pid !== undefined) reap(child.pid, this.ended);
  }

  /** The process id, as other tools want it. */
  get pid(): number {
    if (this.#child.pid === undefined) throw new Error(`${this.name} has not started`);
    return this.#child.pid;
  }

  /** Every line printed so far on either output, in the order of arrival. */
  get output(): readonly string[] {
    return this.#output;
  }

  /**
   * Waits for a line that matches, printed before or after the call.
   *
   * @throws Error with the program's last words if it ends without one or `timeoutMs` pass.
   */
  async line(pattern: RegExp, timeoutMs: number): Promise<string> {
    const timedOut = AbortSignal.timeout(timeoutMs);
    const over = Promise.race([this.ended, once(timedOut, 'abort')]);
    over.catch(() => {}); // it may fail after the line was found
    for (;;) {
      const found = this.#output.find((line) => pattern.test(line));
      if (found !== undefined) return found;
      if (this.#hasEnded) throw new Error(this.#missing(pattern, 'before its end'));
      if (timedOut.aborted) throw new Error(this.#missing(pattern, `in ${timeoutMs} ms`));
      await Promise.race([over, this.#nextLine()]);
    }
  }

  /** Waits until a condition holds. @throws Error with the program's last words if it ends before */
  async until(holds: () => Promise<boolean>): Promise<void> {
    await eventually(async () => {
      const isOver = this.#hasEnded;
      if (await holds()) return true;
      if (isOver) throw new Error(`${this.name} has ended; its last words were:\n${this.#lastWords()}`);
      return false;
    });
  }

  /** Sends a signal to the program and whatever it started itself; once all have ended, nothing happens. */
  kill(signal: NodeJS.Signals): void {
    if (this.#hasEnded || this.#child.pid === undefined) return;
    try {
      process.kill(-this.#child.pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // it ended just now
    }
  }

  /** Asks the program to end, and makes it end five seconds later. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.kill('SIGTERM');
    const force = setTimeout(() => this.kill('SIGKILL'), 5_000);
    await this.ended.catch(() => {});
    clearTimeout(force);
  }

  #collect(stream: Readable): void {
    createInterface({ input: stream }).on('line', (line) => {
      this.#output.push(line);
      for (const tell of this.#onLine) tell();
    });
  }

  #nextLine(): Promise<void> {
    return new Promise((settle) => {
      const tell = () => {
        this.#onLine.delete(tell);
        settle();
      };
      this.#onLine.add(tell);
    });
  }

  #missing(pattern: RegExp, when: string): string {
    return `No line like ${pattern} from ${this.name} ${when}; its last words were:\n${this.#lastWords()}`;
  }

  #lastWords(): string {
    return this.#output.slice(-20).join('\n');
  }
}

/** Has a shell kill the process group `pid` when this process goes away without saying that the other has ended. */
function reap(pid: number, ended: Promise<unknown>): void {
  const script = 'read -r _ || kill -s KILL -- "-$1"';
  const reaper = spawn('/bin/sh', ['-c', script, 'reaper', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  reaper.unref();
  reaper.stdin.on('error', () => {}); // the reaper itself was killed
  const dismiss = () => reaper.stdin.end('ended\n');
  ended.then(dismiss, dismiss);
}
