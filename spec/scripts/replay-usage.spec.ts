import { spawnSync } from 'node:child_process';
import { expect } from 'chai';

describe('programs that replay recordings', () => {
  for (const [script, name, what] of [
    ['spec/hpa/replay/main.ts', 'replay-hpa', 'FILE'],
    ['scripts/replay-cron.ts', 'replay-cron', 'FILE'],
    ['spec/prometheus-operator/replay/main.ts', 'replay-prometheus-operator', 'FILE'],
    ['spec/conformance/custom-metrics/main.ts', 'replay-custom-metrics', 'FOLDER'],
  ] as const) {
    it(`prints the usage of ${name} on request, and for zero or two arguments`, () => {
      const run = (...argv: string[]) => {
        const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...argv], {
          encoding: 'utf8',
        });
        return { status, stdout, stderr };
      };
      const usage = `Usage: npm run -s ${name} -- ${what}\n`;
      for (const flag of ['--help', '-h'])
        expect(run(flag), flag).to.deep.equal({ status: 0, stdout: usage, stderr: '' });
      for (const argv of [[], ['/no/such', '/nor/this']])
        expect(run(...argv), argv.join(' ')).to.deep.equal({ status: 2, stdout: '', stderr: usage });
    });
  }
});
