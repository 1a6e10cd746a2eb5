import { expect } from 'chai';
import { parseProcessUsage, readProcessUsage } from './process-usage.ts';

describe('parseProcessUsage', () => {
  const status = 'Name:\tnode\nVmPeak:\t 9000 kB\nVmHWM:\t   2048 kB\nVmRSS:\t   1024 kB\n';

  it('adds user and system time, whatever the command is called', () => {
    const stat = '42 (a) b (c) S 1 42 42 0 -1 4194560 5 0 0 0 120 30 7 8 20 0 11 0 100 0 0';
    expect(parseProcessUsage(stat, status)).to.deep.equal({
      cpuMs: 1500,
      residentBytes: 1024 * 1024,
      peakResidentBytes: 2048 * 1024,
    });
  });

  it('refuses a status without memory, as of a zombie', () => {
    expect(() => parseProcessUsage('42 (a) Z 1', 'Name:\tnode\n')).to.throw('Cannot find VmRSS');
  });
});

describe('readProcessUsage', () => {
  it('agrees with the process’s own usage', function () {
    if (process.platform !== 'linux') this.skip();
    const { user, system } = process.cpuUsage();
    const usage = readProcessUsage(process.pid);
    expect(usage.cpuMs).to.be.closeTo((user + system) / 1000, 100);
    expect(usage.residentBytes).to.be.within(1e6, usage.peakResidentBytes);
  });
});
