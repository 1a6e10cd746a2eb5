import { expect } from 'chai';
import { parseAutoscalerOptions } from '#lib/autoscaler/options/autoscaler-options.ts';
import { FlagError } from '#lib/flags/parse-flags.ts';

describe('parseAutoscalerOptions', () => {
  it('has defaults', () => {
    expect(optionsOf()).to.deep.include({
      kubeconfig: undefined,
      controllers: new Set(['cronhpa', 'scaledobjects']),
      cronHpa: { workers: 5, timeZone: 'UTC', runsAlibaba: false },
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

  it('reads all flags', () => {
    const options = optionsOf(
      ...[
        '--kubeconfig=file',
        '--controllers=*,-cronhpa,-scaledobjects',
        '--concurrent-cron-hpa-syncs=9',
        '--leader-elect=false',
      ],
      ...[
        '--cron-hpa-time-zone=Asia/Shanghai',
        '--alibaba-cron-hpas',
        '--kube-api-qps=5000',
        '--kube-api-burst=6000',
        '--secure-port=0',
      ],
    );
    expect(options).to.deep.include({
      kubeconfig: 'file',
      controllers: new Set(),
      cronHpa: { workers: 9, timeZone: 'Asia/Shanghai', runsAlibaba: true },
      apiRate: { perSecond: 5000, burst: 6000 },
      leaderElection: undefined,
    });
    expect(options.serving.port).to.equal(0);
  });

  for (const [flags, message] of [
    [['--controllers=cron'], '"cron" must be * or one of'],
    [['--cron-hpa-time-zone=Mars'], 'must be a time zone'],
    [['--kube-api-qps=0'], 'must be above 0'],
    [
      ['--leader-elect-lease-duration=10s'],
      '--leader-elect-lease-duration=10s must be longer than --leader-elect-renew-deadline=10s',
    ],
    [
      ['--leader-elect-retry-period=9s'],
      '--leader-elect-renew-deadline=10s must be longer than 1.2 times --leader-elect-retry-period=9s',
    ],
    [['--tls-cert-file=a'], '--tls-cert-file and --tls-private-key-file must be set together'],
    [['--kubelet-port=1'], '--kubelet-port'],
    [['--kubeconfig=a', '--lister-kubeconfig=b'], 'are mutually exclusive'],
    [['--kube-client-qps=-1'], 'must not be negative'],
    [['--metrics-address=7979'], 'must be HOST:PORT or :PORT'],
    [['--resource-update-interval=500ms'], 'must be at least 1s'],
    [['--default-collection-interval=0s'], 'must be at least 1s'],
    [['--metrics-ttl=0s'], 'must be above 0'],
    [['--scale-down-limit-factor=1.1'], 'must be from 0 to 1'],
    [['--scale-down-limit-factor=-0.1'], 'must be from 0 to 1'],
    [['--scale-down-limit-minimum=-1'], 'must not be negative'],
    [['--prometheus-server=prometheus'], 'must be a URL'],
    [['--influxdb-address=ftp://a'], 'must be a URL'],
    [['--zmon-kariosdb-endpoint=a'], 'must be a URL'],
    [['--nakadi-endpoint=a'], 'must be a URL'],
    [['--additional-prometheus-server=eu'], 'must be NAME=URL'],
    [['--additional-prometheus-server=eu='], 'must be NAME=URL'],
    [['--additional-prometheus-server=eu=http://a,us=http://b,c'], 'must be NAME=URL'],
    [['--additional-prometheus-server=eu=http://a,eu=http://b'], 'must name "eu" once'],
    [
      ['--additional-prometheus-server=eu=http://a', '--additional-prometheus-server=eu=http://b'],
      'must name "eu" once',
    ],
    [['--additional-prometheus-server-token-file=eu'], 'must be NAME=PATH'],
    [
      ['--additional-prometheus-server-token-file=eu=/token'],
      'names "eu", but no --additional-prometheus-server has this name',
    ],
    [['--scaling-schedule-ramp-steps=0'], 'must be above 0'],
    [['--scaling-schedule-default-time-zone=Mars'], 'must be a time zone'],
    [['--scaling-schedule-default-scaling-window=-1m'], 'must not be negative'],
    [['--sql-source=jobs'], 'must be NAME=FILE'],
    [['--sql-source=a=b', '--sql-source=a=c'], 'must name "a" once'],
    [['--allowed-hosts=a b'], 'must be a host name'],
    [['--source-tls=prometheus'], 'must be NAME=FOLDER'],
    [
      ['--prometheus-server=https://p', '--source-tls=influxdb=/tls'],
      '--source-tls: no flag configures a source "influxdb"; configured are: prometheus',
    ],
    [
      ['--source-tls=prometheus/eu=/tls'],
      '--source-tls: no flag configures a source "prometheus/eu"; configured are: none',
    ],
    [['dctor', '--namespace=shop'], 'Unknown command "dctor": must be doctor or explain-hpa'],
    [['--controllers=hpa', 'physician'], '"physician" is not a flag'],
    [['doctor', '--namespace=Shop_1'], 'must be the name of a namespace'],
    [['doctor', 'web'], '"web" is not a flag'],
    [['--output=json'], '--output'],
  ] as const) {
    it(`refuses ${flags.join(' ')}`, () => {
      expect(() => parseAutoscalerOptions(flags)).to.throw(FlagError, message);
    });
  }

  for (const flag of [
    '--prometheus-server=',
    '--additional-prometheus-server=eu=',
    '--influxdb-address=',
    '--zmon-kariosdb-endpoint=',
    '--nakadi-endpoint=',
  ])
    it(`shows no part of an invalid URL of ${flag.replace(/=.*/, '')}`, () => {
      expect(() => parseAutoscalerOptions([`${flag}http://me:secret@%`])).to.throw(
        FlagError,
        /^Invalid value for --[a-z-]+: must be a URL that begins with http:\/\/ or https:\/\/$/,
      );
    });

  it('accepts every flag of kube-metrics-adapter with its value', () => {
    const options = optionsOf(
      '--lister-kubeconfig=/kubeconfig',
      '--prometheus-server=http://prometheus.kube-system.svc.cluster.local',
      '--prometheus-server-token-file=/token',
      '--additional-prometheus-server=eu=http://eu',
      '--additional-prometheus-server=us=http://us',
      '--additional-prometheus-server-token-file=us=/us-token',
      '--sql-source=jobs=/jobs.yaml',
      '--source-tls=prometheus/eu=/eu',
      '--source-tls=nakadi=/nakadi',
      '--influxdb-address=http://influx:8086',
      '--influxdb-token=secret',
      '--influxdb-org=org',
      '--zmon-kariosdb-endpoint=https://kairos',
      '--zmon-token-name=z',
      '--nakadi-endpoint=https://nakadi',
      '--nakadi-token-name=n',
      '--token=static',
      '--credentials-dir=/credentials',
      '--skipper-ingress-metrics',
      '--skipper-routegroup-metrics',
      '--skipper-backends-annotation=zalando.org/backend-weights',
      '--skipper-backends-annotation=example.org/weights',
      '--external-rps-metrics',
      '--external-rps-metric-name=requests',
      '--aws-external-metrics',
      '--aws-region=eu-central-1',
      '--aws-region=eu-west-1',
      '--scaling-schedule',
      '--scaling-schedule-default-scaling-window=5m',
      '--scaling-schedule-ramp-steps=4',
      '--scaling-schedule-default-time-zone=Asia/Tokyo',
      '--metrics-address=:7979',
      '--disregard-incompatible-hpas',
      '--metrics-ttl=10m',
      '--garbage-collector-interval=5m',
      '--default-collection-interval=30s',
      '--resource-update-interval=15s',
      '--kube-client-qps=7',
      '--kube-client-burst=9',
      '--horizontal-pod-autoscaler-tolerance=0.2',
      '--scale-down-limit-factor=0.5',
      '--scale-down-limit-minimum=3',
    );
    expect(options).to.deep.include({ kubeconfig: '/kubeconfig', apiRate: { perSecond: 7, burst: 9 } });
    expect(options.hpa.options.config.tolerance).to.equal(0.2);
    expect(options.hpa.options.config.scaleDownLimit).to.deep.equal({ factor: 0.5, minimum: 3 });
    expect(options.metricsAdapter).to.deep.equal({
      servesCustom: true,
      servesExternal: true,
      defaultIntervalMs: 30_000,
      metricsTtlMs: 600_000,
      relistMs: 15_000,
      ignoresUnknown: true,
      prometheus: { url: 'http://prometheus.kube-system.svc.cluster.local', tokenFile: '/token' },
      additionalPrometheus: new Map([
        ['eu', { url: 'http://eu', tokenFile: undefined }],
        ['us', { url: 'http://us', tokenFile: '/us-token' }],
      ]),
      sourceTls: new Map([
        ['prometheus/eu', '/eu'],
        ['nakadi', '/nakadi'],
      ]),
      sqlSources: new Map([['jobs', '/jobs.yaml']]),
      skipper: {
        ingresses: true,
        routeGroups: true,
        backendsAnnotations: ['zalando.org/backend-weights', 'example.org/weights'],
      },
      externalRpsMetricName: 'requests',
      influxdb: { address: 'http://influx:8086', token: 'secret', organization: 'org' },
      zmon: endpoint('https://kairos', 'z'),
      nakadi: endpoint('https://nakadi', 'n'),
      awsRegions: ['eu-central-1', 'eu-west-1'],
      scalingSchedule: { windowMs: 300_000, rampSteps: 4, timeZone: 'Asia/Tokyo' },
      allowedHosts: [],
      metricsAddress: { host: undefined, port: 7979 },
    });
  });

  it('takes several Prometheus servers, and their token files, with commas between them', () => {
    const { metricsAdapter } = optionsOf(
      '--additional-prometheus-server=eu=http://eu,us=http://us:9090/x',
      '--additional-prometheus-server=asia=http://me:secret,too@asia',
      '--additional-prometheus-server-token-file=eu=/eu-token,us=/us-token',
    );
    expect(metricsAdapter?.additionalPrometheus).to.deep.equal(
      new Map([
        ['eu', { url: 'http://eu', tokenFile: '/eu-token' }],
        ['us', { url: 'http://us:9090/x', tokenFile: '/us-token' }],
        ['asia', { url: 'http://me:secret,too@asia', tokenFile: undefined }],
      ]),
    );
  });

  it('lists the given flags that have no effect', () => {
    const commandLine = parseAutoscalerOptions(['--garbage-collector-interval=1m', '--profiling=false']);
    if (commandLine.kind !== 'run') throw new Error('It does not run');
    expect(commandLine.ignored.map(({ argument }) => argument)).to.deep.equal([
      '--garbage-collector-interval',
      '--profiling',
    ]);
  });

  it('reads the command line of the doctor, which takes all flags of the autoscaler beside its own', () => {
    const command = parseAutoscalerOptions([
      'doctor',
      '-o=json',
      '-n=shop',
      '--controllers=-cronhpa,-scaledobjects,*',
    ]);
    expect(command).to.have.property('kind', 'doctor');
    expect(command).to.have.deep.property('doctor', {
      ...{ output: 'json', namespace: 'shop', serverAccount: undefined },
    });
    expect(command).to.have.deep.nested.property('options.controllers', new Set());
    expect(parseAutoscalerOptions(['doctor', '--help'])).to.have.property('kind', 'help');
  });

  for (const account of [
    'kube-system/autoscaler',
    'system:serviceaccount:autoscaler',
    'system:serviceaccount:kube-system/autoscaler',
    'system:serviceaccount:kube-system:',
  ])
    it(`refuses ${account} as the account of the server, which is not a user name`, () => {
      expect(() => parseAutoscalerOptions(['doctor', `--server-account=${account}`])).to.throw(
        FlagError,
        'must be a user name; for a service account, system:serviceaccount:NAMESPACE:NAME',
      );
    });

  it('takes user names of service accounts and of others as the account of the server', () => {
    for (const account of [
      'system:serviceaccount:kube-system:auto.scaler',
      'admin@example.com',
      'https://issuer.example#17',
    ])
      expect(parseAutoscalerOptions(['doctor', `--server-account=${account}`])).to.have.nested.property(
        'doctor.serverAccount',
        account,
      );
  });

  it('prints its flags and its version', () => {
    expect(parseAutoscalerOptions(['--help'])).to.have.property('kind', 'help');
    expect(parseAutoscalerOptions(['--version'])).to.deep.equal({ kind: 'version' });
  });
});

function endpoint(url: string, tokenName: string): object {
  return { url, tokenName, token: 'static', credentialsFolder: '/credentials' };
}

function optionsOf(...flags: readonly string[]) {
  const commandLine = parseAutoscalerOptions(flags);
  if (commandLine.kind !== 'run') throw new Error(`It is ${commandLine.kind}`);
  return commandLine.options;
}
