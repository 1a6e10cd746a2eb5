import { expect } from 'chai';
import { eventually } from '#spec/support/eventually.ts';
import { SpawnedProgram } from '#spec/support/spawned-program.ts';
import { type WatchedUsage, watchUsage } from './watch-usage.ts';

describe('watchUsage', () => {
  it('returns the usage of each process, in the given order', async () => {
    const source =
      'process.on("SIGTERM", () => process.exit()); setInterval(() => {}, 1000); console.log("up");';
    await using idle = new SpawnedProgram(process.execPath, ['-e', source], { name: 'an idle program' });
    const busySource = 'console.log("up"); for (;;) {}';
    await using busy = new SpawnedProgram(process.execPath, ['-e', busySource], { name: 'a busy program' });
    await Promise.all([idle, busy].map((program) => program.line(/up/, 60_000)));
    let usages: WatchedUsage[] = [];
    await eventually(async () => {
      usages = await watchUsage([busy.pid, idle.pid], 100);
      return (usages[0]?.cpuMillicores ?? 0) > (usages[1]?.cpuMillicores ?? 0);
    });
    for (const { residentBytes, peakResidentBytes } of usages)
      expect(peakResidentBytes)
        .to.be.at.least(residentBytes)
        .and.above(2 ** 20);
    busy.kill('SIGKILL');
  });
});
