import { expect } from 'chai';
import { parseAutoscalerOptions } from '#lib/autoscaler/options/autoscaler-options.ts';
import { withFlagsOfEnvironment } from '#lib/autoscaler/options/scaled-objects-flags.ts';

describe('withFlagsOfEnvironment', () => {
  it("reads the environment variables of KEDA's operator", () => {
    const environment = {
      ...{ WATCH_NAMESPACE: 'a,b', KEDA_HTTP_DEFAULT_TIMEOUT: '500', KEDA_RESTRICT_SECRET_ACCESS: 'True' },
      ...{ KEDA_SCALEDOBJECT_CTRL_MAX_RECONCILES: '9', KEDA_CLUSTER_OBJECT_NAMESPACE: 'keda' },
      ...{ KEDA_BOUND_SERVICE_ACCOUNT_TOKEN_EXPIRY: '2h', PATH: '/bin' },
    };
    const { scaledObjects } = optionsOf(withFlagsOfEnvironment([], environment));
    expect(scaledObjects).to.deep.include({ workers: 9, httpTimeoutMs: 500 });
    expect(scaledObjects.options).to.deep.include({
      ...{ namespaces: ['a', 'b'], clusterNamespace: 'keda', restrictsSecrets: true },
      ...{ fileRoot: undefined, tokenLifetimeS: 7200 },
    });
  });

  it('ignores variables that are empty or off, and gives flags precedence', () => {
    const environment = {
      ...{ WATCH_NAMESPACE: '', KEDA_RESTRICT_SECRET_ACCESS: 'false', KEDA_HTTP_DEFAULT_TIMEOUT: '500' },
    };
    expect(withFlagsOfEnvironment([], environment)).to.deep.equal(['--trigger-http-timeout=500ms']);
    expect(withFlagsOfEnvironment([], { WATCH_NAMESPACE: '""' })).to.deep.equal([]);
    const argv = ['--watch-namespace=c', '--trigger-http-timeout=7s'];
    const more = { ...environment, WATCH_NAMESPACE: 'a' };
    const { scaledObjects } = optionsOf(withFlagsOfEnvironment(argv, more));
    expect(scaledObjects.httpTimeoutMs).to.equal(7000);
    expect(scaledObjects.options.namespaces).to.deep.equal(['c']);
  });

  it('rejects invalid variables by the name of their flag', () => {
    expect(() => optionsOf(withFlagsOfEnvironment([], { KEDA_HTTP_DEFAULT_TIMEOUT: 'soon' }))).to.throw(
      /--trigger-http-timeout/,
    );
  });
});

describe('parseAutoscalerOptions, for reads of triggers', () => {
  const ofTriggers = (argv: readonly string[], ownNamespace?: string) => {
    const commandLine = parseAutoscalerOptions(argv, ownNamespace);
    if (commandLine.kind !== 'run') throw new Error('It does not run');
    return commandLine.options.scaledObjects.options;
  };

  it('reads objects of the cluster in its own namespace, unless a flag names another', () => {
    expect(ofTriggers([], 'scaling').clusterNamespace).to.equal('scaling');
    expect(ofTriggers(['--cluster-object-namespace=shared'], 'scaling').clusterNamespace).to.equal('shared');
    expect(ofTriggers(['--leader-elect-resource-namespace=outside']).clusterNamespace).to.equal('outside');
  });

  it('requests no tokens without an audience, and refuses to start with one of the API server', () => {
    expect(ofTriggers([]).tokenAudience).to.equal(undefined);
    const flag = '--bound-service-account-token-audience';
    expect(ofTriggers([`${flag}=sources`]).tokenAudience).to.equal('sources');
    for (const audience of [
      ...['kubernetes', 'kubernetes.default.svc', 'https://kubernetes.default.svc'],
      ...['https://kubernetes.default.svc.cluster.local', 'https://kubernetes.default.svc.cluster.local/'],
    ])
      expect(() => ofTriggers([`${flag}=${audience}`])).to.throw('must not be an audience of the API server');
  });
});

function optionsOf(flags: readonly string[]) {
  const commandLine = parseAutoscalerOptions(flags);
  if (commandLine.kind !== 'run') throw new Error('It is to run');
  return commandLine.options;
}
