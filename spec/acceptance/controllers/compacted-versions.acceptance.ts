import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { loadClusterAccess } from '#lib/kubernetes/access/load-cluster-access.ts';
import { ApiClient } from '#lib/kubernetes/client/api-client.ts';
import { Informer } from '#lib/kubernetes/informer/informer.ts';
import { objectMetadata, propertyOf } from '#lib/kubernetes/objects/kubernetes-object.ts';
import { systemClock } from '#lib/time/clock.ts';
import { BreakableLink } from '#spec/support/breakable-link.ts';
import { RecordingLogger } from '#spec/support/recording-logger.ts';
import { ControlPlane } from '../control-plane/control-plane.ts';
import { needBinaries } from '../control-plane/need-binaries.ts';

const CONFIG_MAPS = '/api/v1/namespaces/default/configmaps';
const OBSERVED_WITHIN_MS = 120_000;

/** The fields of a ConfigMap that the informer caches. */
interface Retained {
  readonly name: string;
  readonly text: unknown;
}

describe('Informer, on a real API server', function () {
  this.timeout(300_000);

  let controlPlane: ControlPlane;
  before(async () => {
    controlPlane = await ControlPlane.start({ ...(await needBinaries()), controllerManager: undefined });
  });
  after(() => controlPlane?.[Symbol.asyncDispose]());

  it('lists again after 410, and reports the changes that it missed', async () => {
    for (const name of ['kept', 'changed', 'deleted']) await create(name);
    await using stack = new AsyncDisposableStack();
    const link = stack.use(await BreakableLink.to(controlPlane.port));
    const informer = stack.use(await informerBy(link, stack));
    const reported: string[] = [];
    informer.onChange(({ key, previous, current }) => {
      reported.push(`${key}: ${previous?.text ?? 'nothing'} → ${current?.text ?? 'nothing'}`);
    });
    informer.start();
    await until(() => informer.isSynced);
    const version = await currentVersion();
    reported.length = 0;

    link.cut();
    await controlPlane.client.patch(`${CONFIG_MAPS}/changed`, { data: { text: 'new' } });
    await controlPlane.client.delete(`${CONFIG_MAPS}/deleted`);
    await create('added');
    await controlPlane.compact();
    const watch = `${CONFIG_MAPS}?watch=true&timeoutSeconds=5&resourceVersion=${version}`;
    expect(await controlPlane.client.get<object>(watch)).to.have.nested.include({
      type: 'ERROR',
      'object.code': 410,
      'object.reason': 'Expired',
    });
    link.mend();

    await until(() => reported.length >= 3);
    expect(reported.toSorted()).to.deep.equal([
      'default/added: nothing → old',
      'default/changed: old → new',
      'default/deleted: old → nothing',
    ]);
    await controlPlane.client.patch(`${CONFIG_MAPS}/kept`, { data: { text: 'newer' } });
    await until(() => reported.length >= 4);
    expect(reported.at(-1)).to.equal('default/kept: old → newer');
  });

  it('gets an error if a further page of a list has expired', async () => {
    const { metadata } = await controlPlane.client.get<{ readonly metadata: { readonly continue: string } }>(
      `${CONFIG_MAPS}?limit=1`,
    );
    await create('another');
    await controlPlane.compact();
    const further = `${CONFIG_MAPS}?limit=1&continue=${encodeURIComponent(metadata.continue)}`;
    const refusal = await controlPlane.client.get(further).then(
      () => undefined,
      ({ status }: { readonly status: number }) => status,
    );
    expect(refusal).to.equal(410);
  });

  async function create(name: string): Promise<void> {
    const metadata = { name, namespace: 'default' };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { text: 'old' } };
    await controlPlane.client.create(CONFIG_MAPS, object);
  }

  async function informerBy(link: BreakableLink, stack: AsyncDisposableStack): Promise<Informer<Retained>> {
    const { pki, port, folder } = controlPlane;
    const text = controlPlane.kubeconfigFor('admin', pki.admin).replaceAll(`:${port}`, `:${link.port}`);
    const kubeconfig = join(folder, 'link.kubeconfig');
    await writeFile(kubeconfig, text, { mode: 0o600 });
    const logger = new RecordingLogger();
    const access = await loadClusterAccess({ kubeconfig, clock: systemClock, logger });
    const client = stack.use(new ApiClient({ access, clock: systemClock, userAgent: 'spec' }));
    return new Informer<Retained>({
      ...{ client, logger, clock: systemClock },
      collection: { path: CONFIG_MAPS },
      transform: readStored,
    });
  }

  async function currentVersion(): Promise<string> {
    const { metadata } = await controlPlane.client.get<{
      readonly metadata: { readonly resourceVersion: string };
    }>(CONFIG_MAPS);
    return metadata.resourceVersion;
  }

  async function until(condition: () => boolean): Promise<void> {
    const deadlineMs = Date.now() + OBSERVED_WITHIN_MS;
    while (!condition()) {
      if (Date.now() > deadlineMs) throw new Error(`Never true: ${condition}`);
      await sleep(50);
    }
  }
});

/** Excludes ConfigMaps that Kubernetes itself creates. */
function readStored(value: unknown): Retained | undefined {
  const metadata = objectMetadata(value);
  const text = propertyOf(propertyOf(value, 'data'), 'text');
  return metadata && text !== undefined ? { name: metadata.key, text } : undefined;
}
