import { readFileSync } from 'node:fs';

/** What a process has used so far, as the Linux kernel accounts for it. */
export interface ProcessUsage {
  /** User and system time of all its threads, ended ones included; counted in ticks of 10 ms. */
  readonly cpuMs: number;
  readonly residentBytes: number;
  readonly peakResidentBytes: number;
}

// Linux reports times in units of USER_HZ, which is 100 on every architecture that Node runs on.
const MS_PER_TICK = 10;

/** Reads what process `pid` has used; it must be running. */
export function readProcessUsage(pid: number): ProcessUsage {
  return parseProcessUsage(
    readFileSync(`/proc/${pid}/stat`, 'latin1'),
    readFileSync(`/proc/${pid}/status`, 'latin1'),
  );
}

/** Understands the kernel's `stat` and `status` files of one process, as proc(5) describes them. */
export function parseProcessUsage(stat: string, status: string): ProcessUsage {
  // The command name in parentheses may hold spaces and parentheses; the process state is the first field after it.
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
