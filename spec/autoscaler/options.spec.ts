import { expect } from 'chai';
import { parseAutoscalerOptions } from '#lib/autoscaler/options.ts';
import { FlagError } from '#lib/flags/flag-error.ts';

describe('parseAutoscalerOptions', () => {
  it('has defaults', () => {
    expect(optionsOf()).to.deep.include({
      kubeconfig: undefined,
      controllers: new Set(['cronhpa']),
      cronHpa: { workers: 5, timeZone: 'UTC' },
      apiRate: { perSecond: 50, burst: 100 },
      leaderElection: {
        lease: { namespace: 'kube-system', name: 'autoscaler' },
        leaseDurationMs: 15_000,
        renewDeadlineMs: 10_000,
        retryPeriodMs: 2_000,
      },
      logging: { format: 'text', verbosity: 0 },
    });
  });

  it('reads what is given', () => {
    const options = optionsOf(
      ...[
        '--kubeconfig=file',
        '--controllers=*,-cronhpa',
        '--concurrent-cron-hpa-syncs=9',
        '--leader-elect=false',
      ],
      ...[
        '--cron-hpa-time-zone=Asia/Shanghai',
        '--kube-api-qps=5000',
        '--kube-api-burst=6000',
        '--secure-port=0',
      ],
    );
    expect(options).to.deep.include({
      kubeconfig: 'file',
      controllers: new Set(),
      cronHpa: { workers: 9, timeZone: 'Asia/Shanghai' },
      apiRate: { perSecond: 5000, burst: 6000 },
      leaderElection: undefined,
    });
    expect(options.serving.port).to.equal(0);
  });

  for (const [flags, message] of [
    [['--controllers=cron'], '"cron" must be * or one of'],
    [['--cron-hpa-time-zone=Mars'], 'must be the name of a zone'],
    [['--kube-api-qps=0'], 'must be above 0'],
    [['--leader-elect-lease-duration=10s'], 'must be longer than --leader-elect-renew-deadline'],
    [['--leader-elect-retry-period=9s'], 'must be longer than 1.2 times --leader-elect-retry-period'],
    [['--tls-cert-file=a'], '--tls-cert-file and --tls-private-key-file need each other'],
    [['--kubelet-port=1'], '--kubelet-port'],
    [['doctor'], '"doctor" is no flag'],
  ] as const) {
    it(`refuses ${flags.join(' ')}`, () => {
      expect(() => parseAutoscalerOptions(flags)).to.throw(FlagError, message);
    });
  }

  it('tells its flags and its version', () => {
    expect(parseAutoscalerOptions(['--help'])).to.have.property('kind', 'help');
    expect(parseAutoscalerOptions(['--version'])).to.deep.equal({ kind: 'version' });
  });
});

function optionsOf(...flags: readonly string[]) {
  const commandLine = parseAutoscalerOptions(flags);
  if (commandLine.kind !== 'run') throw new Error(`It is ${commandLine.kind}`);
  return commandLine.options;
}
