import { expect } from 'chai';
import { withFlagsOfEnvironment } from '#lib/autoscaler/options/keda-environment.ts';
import { parseAutoscalerOptions } from '#lib/autoscaler/options.ts';

describe('withFlagsOfEnvironment', () => {
  it("takes what the environment of KEDA's operator says", () => {
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

  it('takes nothing of what is empty or off, and lets flags win', () => {
    const environment = {
      ...{ WATCH_NAMESPACE: '', KEDA_RESTRICT_SECRET_ACCESS: 'false', KEDA_HTTP_DEFAULT_TIMEOUT: '500' },
    };
    expect(withFlagsOfEnvironment([], environment)).to.deep.equal(['--trigger-http-timeout=500ms']);
    const argv = ['--watch-namespace=c', '--trigger-http-timeout=7s'];
    const more = { ...environment, WATCH_NAMESPACE: 'a' };
    const { scaledObjects } = optionsOf(withFlagsOfEnvironment(argv, more));
    expect(scaledObjects.httpTimeoutMs).to.equal(7000);
    expect(scaledObjects.options.namespaces).to.deep.equal(['c']);
  });

  it('has what cannot be read refused, as the flag that it is', () => {
    expect(() => optionsOf(withFlagsOfEnvironment([], { KEDA_HTTP_DEFAULT_TIMEOUT: 'soon' }))).to.throw(
      /--trigger-http-timeout/,
    );
  });
});

function optionsOf(flags: readonly string[]) {
  const commandLine = parseAutoscalerOptions(flags);
  if (commandLine.kind !== 'run') throw new Error('It is to run');
  return commandLine.options;
}
