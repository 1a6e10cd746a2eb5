import { expect } from 'chai';
import { FlagError } from '#lib/flags/parse-flags.ts';
import { formatFlagTables, type MetricsServerOptions, parseOptions } from '#lib/resource-metrics/options.ts';

describe('parseOptions', () => {
  it("has metrics-server's defaults", () => {
    expect(optionsOf()).to.deep.equal({
      kubeconfig: undefined,
      metricResolutionMs: 60_000,
      metricStalenessMs: 70_000,
      extraResources: [],
      nodeSelector: '',
      kubelet: {
        preferredAddressTypes: ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'],
        port: 10250,
        useNodeStatusPort: false,
        verifyNodeName: true,
        certificateAuthorityFile: undefined,
        certificateAuthorityText: undefined,
        clientCertificateFile: undefined,
        clientKeyFile: undefined,
        insecureTls: false,
        completelyInsecure: false,
        metricsEndpoint: 'auto',
        requestTimeoutMs: 10_000,
        dialTimeoutMs: 3_000,
        maxResponseBytes: 16_777_216,
      },
      serving: {
        bindAddress: '0.0.0.0',
        port: 443,
        certDir: 'apiserver.local.config/certificates',
        certFile: undefined,
        keyFile: undefined,
        namedCertificates: [],
        tls: { minVersion: 'TLSv1.2', cipherSuites: [], curves: [] },
        maxStreamsPerConnection: 100,
        inFlightLimits: { reading: 400, mutating: 200 },
        enableWatch: false,
        requestTimeoutMs: 60_000,
        shutdownDelayMs: 0,
      },
      authentication: {
        kubeconfig: undefined,
        clientCaFile: undefined,
        frontProxyCaFile: undefined,
        frontProxyAllowedNames: [],
        frontProxyHeaders: {
          username: ['x-remote-user'],
          uid: [],
          group: ['x-remote-group'],
          extraPrefix: ['x-remote-extra-'],
        },
        skipLookup: false,
        tolerateLookupFailure: false,
        tokenCacheTtlMs: 10_000,
      },
      authorization: {
        kubeconfig: undefined,
        alwaysAllowed: { exact: new Set(['healthz', 'readyz', 'livez']), prefixes: [] },
        authorizedTtlMs: 10_000,
        unauthorizedTtlMs: 10_000,
      },
      logging: { format: 'text', verbosity: 0 },
    });
  });

  it('bridges one failed scrape by default', () => {
    expect(optionsOf('--metric-resolution=15s').metricStalenessMs).to.equal(25_000);
    expect(optionsOf('--metric-staleness=5m').metricStalenessMs).to.equal(300_000);
    expect(optionsOf('--metric-staleness=0s').metricStalenessMs).to.equal(0);
    expect(() => optionsOf('--metric-staleness=60s')).to.throw(
      FlagError,
      '--metric-staleness=1m0s is too short: must be 0s, or at least the sum of --metric-resolution and --kubelet-request-timeout, which is 1m10s',
    );
  });

  it('serves only CPU and memory by default', () => {
    expect(optionsOf('--extra-resources=swap').extraResources).to.deep.equal(['swap']);
    expect(optionsOf('--extra-resources=swap,ephemeral-storage').extraResources).to.deep.equal([
      'ephemeral-storage',
      'swap',
    ]);
    expect(() => optionsOf('--extra-resources=gpu')).to.throw(
      FlagError,
      '"gpu" must be one of ephemeral-storage, swap',
    );
  });

  it("accepts the arguments of metrics-server's manifest", () => {
    const options = optionsOf(
      '--cert-dir=/tmp',
      '--secure-port=10250',
      '--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname',
      '--kubelet-use-node-status-port',
      '--metric-resolution=15s',
    );
    expect(options.metricResolutionMs).to.equal(15_000);
    expect(options.serving).to.include({ certDir: '/tmp', port: 10250 });
    expect(options.kubelet).to.deep.include({
      preferredAddressTypes: ['InternalIP', 'ExternalIP', 'Hostname'],
      useNodeStatusPort: true,
    });
  });

  it('parses each flag with an effect', () => {
    const options = optionsOf(
      ...['--kubeconfig', '/k', '-l', 'pool in (a, b)', '-v=4', '--logging-format=json'],
      ...[
        '--kubelet-certificate-authority=/ca',
        '--kubelet-client-certificate=/c',
        '--kubelet-client-key=/d',
      ],
      ...['--kubelet-port=1', '--kubelet-request-timeout=5s', '--kubelet-dial-timeout=1s'],
      ...['--bind-address=::', '--tls-cert-file=/e', '--tls-private-key-file=/f', '--secure-port=0'],
    );
    expect(options).to.deep.include({
      kubeconfig: '/k',
      nodeSelector: 'pool in (a, b)',
      logging: { format: 'json', verbosity: 4 },
    });
    expect(options.kubelet).to.include({
      certificateAuthorityFile: '/ca',
      clientCertificateFile: '/c',
      clientKeyFile: '/d',
      port: 1,
      requestTimeoutMs: 5_000,
      dialTimeoutMs: 1_000,
    });
    expect(options.serving).to.include({ bindAddress: '::', certFile: '/e', keyFile: '/f', port: 0 });
    expect(optionsOf('--kubelet-insecure-tls').kubelet.insecureTls).to.equal(true);
    expect(optionsOf('--deprecated-kubelet-completely-insecure').kubelet.completelyInsecure).to.equal(true);
    expect(optionsOf('--kubelet-certificate-authority-text=PEM').kubelet.certificateAuthorityText).to.equal(
      'PEM',
    );
  });

  it('parses flags of authentication, authorization and TLS', () => {
    const { authentication, authorization, serving } = optionsOf(
      ...['--authentication-kubeconfig=/a', '--authorization-kubeconfig=/b', '--client-ca-file=/c'],
      ...['--requestheader-client-ca-file=/d', '--requestheader-allowed-names=x,y'],
      ...['--requestheader-uid-headers=X-Remote-Uid', '--authentication-skip-lookup'],
      ...['--authentication-tolerate-lookup-failure', '--authentication-token-webhook-cache-ttl=2m'],
      ...['--authorization-always-allow-paths=/a,b*', '--authorization-webhook-cache-authorized-ttl=0s'],
      ...['--tls-sni-cert-key=/e,/f:a.example,*.b.example', '--tls-sni-cert-key=/g,/h'],
      ...['--tls-min-version=VersionTLS13', '--tls-cipher-suites=TLS_RSA_WITH_AES_128_CBC_SHA'],
      '--tls-curve-preferences=23,4588',
      ...['--http2-max-streams-per-connection=7', '--max-requests-inflight=0', '--enable-watch'],
    );
    expect(authentication).to.deep.include({
      kubeconfig: '/a',
      clientCaFile: '/c',
      frontProxyCaFile: '/d',
      frontProxyAllowedNames: ['x', 'y'],
      skipLookup: true,
      tolerateLookupFailure: true,
      tokenCacheTtlMs: 120_000,
    });
    expect(authentication.frontProxyHeaders.uid).to.deep.equal(['X-Remote-Uid']);
    expect(authorization).to.deep.include({
      kubeconfig: '/b',
      alwaysAllowed: { exact: new Set(['a']), prefixes: ['b'] },
      authorizedTtlMs: 0,
    });
    expect(serving).to.deep.include({
      namedCertificates: [
        { certFile: '/e', keyFile: '/f', names: ['a.example', '*.b.example'] },
        { certFile: '/g', keyFile: '/h', names: [] },
      ],
      tls: {
        minVersion: 'TLSv1.3',
        cipherSuites: ['TLS_RSA_WITH_AES_128_CBC_SHA'],
        curves: ['23', '4588'],
      },
      maxStreamsPerConnection: 7,
      inFlightLimits: { reading: Number.POSITIVE_INFINITY, mutating: 200 },
      enableWatch: true,
    });
    expect(optionsOf('--disable-http2-serving').serving.maxStreamsPerConnection).to.equal(0);
  });

  for (const [argument, message] of [
    ['--tls-sni-cert-key=/e', 'must be CERTFILE,KEYFILE or CERTFILE,KEYFILE:NAMES'],
    ['--tls-sni-cert-key=/e,/f:', 'must not have an empty name'],
    ['--kubelet-max-response-bytes=1000', 'must be from 1048576 (1 MiB)'],
    ['--tls-min-version=VersionSSL30', 'must be one of VersionTLS10'],
    ['--tls-cipher-suites=RC4', '"RC4" must be one of'],
    ['--tls-curve-preferences=23,X25519', '"X25519" must be one of 23, 24, 25, 29, 4587, 4588, 4589'],
    ['--authorization-always-allow-paths=/a*b', 'must have * only at the end of a path'],
    ['--requestheader-group-headers=a,', 'must not have an empty name'],
    ['--authorization-webhook-cache-authorized-ttl=-1s', 'must not be negative'],
  ] as const) {
    it(`rejects ${argument}`, () => {
      expect(() => optionsOf(argument)).to.throw(FlagError, message);
    });
  }

  it('returns frozen options', () => {
    const options = optionsOf();
    expect(Object.isFrozen(options)).to.equal(true);
    expect([options.kubelet, options.serving, options.logging].every(Object.isFrozen)).to.equal(true);
  });

  it("accepts metrics-server's other flags, and reports that they are ignored", () => {
    const command = parseOptions([
      '--profiling=false',
      '--audit-log-path',
      '-',
      '--contention-profiling',
      'x',
    ]);
    expect(command).to.have.property('kind', 'run');
    expect(command)
      .to.have.property('ignored')
      .that.deep.equals([
        { argument: '--profiling', reason: 'not applicable to this program' },
        { argument: '--audit-log-path', reason: 'the API server audits forwarded requests' },
        { argument: '--contention-profiling', reason: 'not applicable to this program' },
        { argument: 'x', reason: 'not a flag' },
      ]);
  });

  it('accepts the flags of API servers that metrics-server has since v0.9', () => {
    const command = parseOptions([
      ...['--advertise-address=10.0.0.1', '--external-hostname=m', '--cors-allowed-origins=//a.example'],
      ...['--strict-transport-security-directives=max-age=1,preload', '--goaway-chance=0.001'],
      ...['--request-timeout=1m30s', '--min-request-timeout=1800', '--storage-initialization-timeout=1m'],
      ...[
        '--livez-grace-period=5s',
        '--shutdown-send-retry-after',
        '--send-retry-after-while-not-ready-once',
      ],
      ...['--shutdown-watch-termination-grace-period=0s', '--feature-gates=WatchList=true,AllAlpha=false'],
      ...[
        '--feature-gates=kube:AllBeta=true',
        '--emulated-version=kube=1.35',
        '--min-compatibility-version=1.34',
      ],
      ...['--emulation-forward-compatible', '--runtime-config-emulation-forward-compatible=false'],
      '--audit-webhook-batch-initial-backoff=10s',
    ]);
    expect(command).to.have.property('ignored').with.lengthOf(17); // all but --request-timeout
    expect(command).to.have.nested.property('options.serving.requestTimeoutMs', 90_000);
    expect(command).to.have.property('ignored').that.deep.includes({
      argument: '--feature-gates',
      reason: 'this program has no feature gates and emulates no version',
    });
    expect(() => parseOptions(['--request-timeout=0s'])).to.throw(FlagError, 'must be longer than 0s');
    expect(() => parseOptions(['--goaway-chance=often'])).to.throw(FlagError, 'must be a number');
  });

  it('rejects an unknown command', () => {
    const message =
      'Unknown command "autoscalr": must be metrics-server, autoscaler, prometheus-operator or doctor';
    expect(() => parseOptions(['autoscalr', '--kubeconfig=/k'])).to.throw(FlagError, message);
  });

  it('prints help or version without checking for contradictions', () => {
    const contradiction = ['--kubelet-client-key=/d'];
    expect(parseOptions([...contradiction, '-h'])).to.have.property('kind', 'help');
    expect(parseOptions([...contradiction, '--help']))
      .to.have.property('text')
      .that.contains('--metric-resolution duration');
    expect(parseOptions([...contradiction, '--version'])).to.deep.equal({ kind: 'version' });
  });

  const ADDRESS_TYPES = 'Hostname, InternalDNS, InternalIP, ExternalDNS, ExternalIP';
  const refused: readonly [string[], string][] = [
    [['--metric-resolution=4.9s'], 'Invalid value "4.9s" for --metric-resolution: must be 5s or longer'],
    [
      ['--metric-resolution=9.9s', '--kubelet-request-timeout=5s'],
      '--metric-resolution=9.9s is too short for /stats/summary: must be at least 10s, or set with --kubelet-metrics-endpoint=resource',
    ],
    [
      ['--metric-resolution=5s', '--kubelet-metrics-endpoint=resource'],
      '--kubelet-request-timeout=10s is too long: must be at most 90% of --metric-resolution=5s, which is 4.5s',
    ],
    [['--kubelet-port=0'], 'Invalid value "0" for --kubelet-port: must be from 1 to 65535'],
    [['--secure-port=65536'], 'Invalid value "65536" for --secure-port: must be from 0 to 65535'],
    [
      ['--kubelet-request-timeout=0s'],
      'Invalid value "0s" for --kubelet-request-timeout: must be longer than 0s',
    ],
    [
      ['--kubelet-dial-timeout=-1s'],
      'Invalid value "-1s" for --kubelet-dial-timeout: must be longer than 0s',
    ],
    [
      ['--kubelet-preferred-address-types='],
      'Invalid value "" for --kubelet-preferred-address-types: must name at least one type',
    ],
    [
      ['--kubelet-preferred-address-types=InternalIP,IP'],
      `Invalid value "InternalIP,IP" for --kubelet-preferred-address-types: "IP" must be one of ${ADDRESS_TYPES}`,
    ],
    [
      ['--node-selector=a==='],
      'Invalid value "a===" for --node-selector: must be a label selector: unable to parse requirement: found \'=\', expected: identifier',
    ],
    [['-v=-1'], 'Invalid value "-1" for -v: must not be negative'],
    [
      ['--kubelet-certificate-authority=/ca', '--kubelet-insecure-tls'],
      '--kubelet-certificate-authority=/ca and --kubelet-insecure-tls are mutually exclusive',
    ],
    [
      ['--kubelet-certificate-authority-text=-----BEGIN\nX', '--deprecated-kubelet-completely-insecure'],
      '--kubelet-certificate-authority-text=-----BEGIN… and --deprecated-kubelet-completely-insecure are mutually exclusive',
    ],
    [
      ['--kubelet-client-certificate=/c'],
      '--kubelet-client-certificate=/c and --kubelet-client-key must be set together',
    ],
    [
      ['--kubelet-client-key=/d'],
      '--kubelet-client-key=/d and --kubelet-client-certificate must be set together',
    ],
    [['--tls-private-key-file=/f'], '--tls-private-key-file=/f and --tls-cert-file must be set together'],
    [
      ['--metric-resolution=10s'],
      '--kubelet-request-timeout=10s is too long: must be at most 90% of --metric-resolution=10s, which is 9s',
    ],
  ];
  for (const [argv, message] of refused) {
    it(`rejects ${JSON.stringify(argv.join(' '))}`, () =>
      expect(() => parseOptions(argv))
        .to.throw(FlagError)
        .with.property('message', message));
  }

  it('accepts 5 s from /metrics/resource', () => {
    const flags = ['--kubelet-metrics-endpoint=resource', '--kubelet-request-timeout=4s'];
    expect(optionsOf('--metric-resolution=5s', ...flags).metricResolutionMs).to.equal(5000);
  });

  it('accepts a request timeout of exactly 90% of the resolution', () => {
    expect(optionsOf('--metric-resolution=10s', '--kubelet-request-timeout=9s').metricResolutionMs).to.equal(
      10_000,
    );
  });
});

describe('formatFlagTables', () => {
  it('has a row for each flag with an effect', () => {
    const tables = formatFlagTables();
    for (const row of ['| `--metric-resolution duration` | `1m0s` |', '| `--node-selector string`, `-l` |']) {
      expect(tables).to.contain(row);
    }
    expect(tables).to.contain('`--contention-profiling`').and.not.contain('| `--contention-profiling');
  });
});

function optionsOf(...argv: readonly string[]): MetricsServerOptions {
  const command = parseOptions(argv);
  if (command.kind !== 'run') throw new Error(`expected to run, but got ${command.kind}`);
  return command.options;
}
