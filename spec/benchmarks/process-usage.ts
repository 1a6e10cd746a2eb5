import { readFileSync } from 'node:fs';

/** Resource usage of a process since its start, as accounted by the Linux kernel. */
export interface ProcessUsage {
  /** User and system time of all threads, including ended ones, at a resolution of 10 ms. */
  readonly cpuMs: number;
  readonly residentBytes: number;
  readonly peakResidentBytes: number;
}

// Linux reports times in units of USER_HZ, which is 100 on every architecture that Node supports.
const MS_PER_TICK = 10;

/** Reads the usage of process `pid`, which must be running. */
export function readProcessUsage(pid: number): ProcessUsage {
  return parseProcessUsage(
    readFileSync(`/proc/${pid}/stat`, 'latin1'),
    readFileSync(`/proc/${pid}/status`, 'latin1'),
  );
}

/** Parses the kernel's `stat` and `status` files of one process, see proc(5). */
export function parseProcessUsage(stat: string, status: string): ProcessUsage {
  // The command name in parentheses may contain spaces and parentheses; the process state is the first field after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [userTicks, systemTicks] = [Number(fields[11]), Number(fields[12])];
  return {
    cpuMs: (userTicks + systemTicks) * MS_PER_TICK,
    residentBytes: kibibytes(status, 'VmRSS') * 1024,
    peakResidentBytes: kibibytes(status, 'VmHWM') * 1024,
  };
}

function kibibytes(status: string, name: string): number {
  const value = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1];
  if (value === undefined) throw new Error(`Cannot find ${name} in the status of a process`);
  return Number(value);
}
