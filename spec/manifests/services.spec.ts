import { readdir } from 'node:fs/promises';
import { expect } from 'chai';
import { autoscalerTemplate, kustomize, type ManifestObject } from '#spec/support/manifest-objects.ts';

const AUTOSCALER_WITH_WEBHOOK = {
  'controllers.scaledobjects.enabled': true,
  'webhook.enabled': true,
  'webhook.existingSecret': 'webhook',
  'webhook.caBundle': 'authority',
};

describe('Services of manifests/', () => {
  const overlays = new Map<string, readonly ManifestObject[]>();

  before(async () => {
    for (const name of await readdir('manifests/overlays'))
      overlays.set(name, await kustomize(`manifests/overlays/${name}`));
  });

  it('refer to named ports of the pods of a Deployment, in every overlay', () => {
    expect([...overlays.keys()]).to.include('autoscaler-scaled-objects-webhook');
    for (const [name, objects] of overlays) expectServed(objects, name);
  });

  it('refer to named ports in the chart of the autoscaler with its webhook', async () => {
    expectServed(await autoscalerTemplate(AUTOSCALER_WITH_WEBHOOK), 'chart');
  });

  it('exist for each webhook and each APIService', () => {
    for (const [name, objects] of overlays) {
      const services = new Map(
        objects
          .filter(({ kind }) => kind === 'Service')
          .map(({ metadata, spec }) => [`${metadata.namespace}/${metadata.name}`, spec]),
      );
      for (const called of calledIn(objects)) {
        const spec = services.get(`${called.namespace}/${called.name}`);
        expect(spec, `${name}: ${called.name}`).not.to.equal(undefined);
        expect(spec.ports.map(({ port }: { readonly port: number }) => port)).to.include(called.port ?? 443);
      }
    }
  });
});

/** References to Services that API servers call. */
function calledIn(objects: readonly ManifestObject[]): readonly ManifestObject['spec'][] {
  return objects.flatMap(({ kind, spec, webhooks = [] }) => [
    ...(kind === 'APIService' && spec.service ? [spec.service] : []),
    ...webhooks.map(({ clientConfig }: ManifestObject) => clientConfig.service),
  ]);
}

function expectServed(objects: readonly ManifestObject[], where: string): void {
  const services = objects.filter(({ kind }) => kind === 'Service');
  expect(services, where).not.to.be.empty;
  for (const { metadata, spec } of services) {
    const what = `${where}: Service ${metadata.name}`;
    const selected = Object.entries(spec.selector ?? {});
    expect(selected, `${what} has a selector`).not.to.be.empty;
    const template = objects
      .filter(
        (object) =>
          object.kind === 'Deployment' && (object.metadata.namespace ?? '') === (metadata.namespace ?? ''),
      )
      .map((deployment) => deployment.spec.template)
      .find(({ metadata: { labels } }) => selected.every(([key, value]) => labels[key] === value));
    expect(template, `${what} has pods`).not.to.equal(undefined);
    const offered = template.spec.containers.flatMap(({ ports = [] }: ManifestObject) => ports);
    for (const { targetPort } of spec.ports)
      expect(
        offered.flatMap(({ name, containerPort }: ManifestObject) => [name, containerPort]),
        what,
      ).to.include(targetPort);
  }
}
