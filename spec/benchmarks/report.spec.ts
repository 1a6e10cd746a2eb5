import { expect } from 'chai';
import { measuredResult } from '#spec/support/measured-result.ts';
import { reportMachine, reportScenario } from './report.ts';

describe('reportScenario', () => {
  const report = reportScenario(measuredResult({}));

  it('contains the measurements, and how the server scraped', () => {
    expect(report).to.match(
      /^## tiny: 1 nodes × 10 pods × 1 containers, 3 namespaces × 5 apps, kubelets with PSI$/m,
    );
    expect(report).to.match(/^\| 13\.0 s +\| 4\.2 millicores +\| 90 MiB +\| 100 MiB +\|$/m);
    expect(report).to.match(/^\| \/stats\/summary: 66\.0 kB +\| 10 open, 9 kept +\|$/m);
  });

  it('contains the usage of a bare program, if it was measured', () => {
    expect(report).not.to.include('bare program');
    const result = measuredResult({});
    const bare = { cpuMillicores: 3, residentBytes: 60 * 2 ** 20, peakResidentBytes: 61 * 2 ** 20 };
    expect(reportScenario({ ...result, scraping: { ...result.scraping, bare } })).to.match(
      /^\| 3\.0 millicores +\| 60 MiB +\| 1\.41 +\|$/m,
    );
  });

  it('contains the usage of other servers, and ratios', () => {
    expect(report).not.to.include('beside it');
    const result = measuredResult({});
    const usage = { cpuMillicores: 8.48, residentBytes: 180 * 2 ** 20, peakResidentBytes: 200 * 2 ** 20 };
    const beside = [{ command: 'node other.js', ...usage }];
    expect(reportScenario({ ...result, scraping: { ...result.scraping, beside } })).to.match(
      /^\| node other\.js +\| 8\.5 millicores +\| 180 MiB +\| 200 MiB +\| 0\.50 +\| 0\.50 +\|$/m,
    );
  });

  it('contains medians over the rounds, and the range of requests per second', () => {
    expect(report).to.match(
      /^\| list all pods \| 1 +\| protobuf, gzip \| HTTP\/2 +\| 1\.2 kB \| 20 \[10–30\] +\| 2\.00 +\| 3\.00 +\| 0\.250 +\|$/m,
    );
  });

  it('contains the baseline, if it was measured', () => {
    expect(report).not.to.include('baseline');
    expect(reportScenario(measuredResult({ baselinePerSecond: [60, 40, 50] }))).to.match(
      /^\| list all pods .* \| 20 \[10–30\] .* \| 50 \[40–60\] +\| 0\.40 +\| 0\.250 +\|$/m,
    );
  });

  it('contains other servers in alternating rounds, with ratios', () => {
    expect(report).not.to.include('in alternating rounds');
    const result = measuredResult({});
    const requests = result.requests.map((request) => ({
      ...request,
      beside: [
        {
          command: 'node other.js',
          rounds: request.rounds.map((round) => ({
            ...round,
            requestsPerSecond: 2 * round.requestsPerSecond,
            serverCpuMsPerRequest: 0.1,
          })),
        },
      ],
    }));
    expect(reportScenario({ ...result, requests })).to.match(
      /^\| node other\.js +\| list all pods \| protobuf, gzip \| HTTP\/2 \| 40 \[20–60\] +\| 0\.100 +\| 0\.50 +\| 2\.50 +\|$/m,
    );
  });

  it('contains the latency of first responses after cycles', () => {
    expect(report).to.match(
      /^\| list all pods +\| json, gzip \| HTTP\/2 \| 4\.3 kB \| 6\.00 +\| 2\.00 +\| 4\.00 +\|$/m,
    );
  });

  it('contains background loads, and their cost above scraping', () => {
    expect(report).to.match(
      /^\| 500 autoscalers +\| 30\.0 +\| 25\.8 +\| 110 MiB +\| 1000 +\| 1\.00 +\| 2\.00 +\| 3\.00 +\| – +\|$/m,
    );
    expect(report).to.match(
      /^\| 100 pods\/s +\| 20\.0 +\| 15\.8 +\| 110 MiB +\| 1000 +\| – +\| – +\| 3\.00 +\| – +\|$/m,
    );
  });

  it('has no table of what was not measured', () => {
    const bare = reportScenario({ ...measuredResult({}), requests: [], firstRequests: [], loads: [] });
    expect(bare.match(/^\| -/gm)).to.have.lengthOf(2);
  });
});

describe('reportMachine', () => {
  it('contains the figures for comparing machines', () => {
    const calibration = { jsonMegabytesPerSecond: 212.4, tlsHandshakesPerSecond: 987.6 };
    const report = reportMachine({ node: 'v24', cpu: 'Z80', cores: 2, ...calibration });
    expect(report).to.match(/^Node v24 on 2 × Z80$/m);
    expect(report).to.match(/ 212 MB of JSON .* 988 TLS handshakes/);
  });
});
