import { expect } from 'chai';
import { hpaController } from '#lib/hpa/hpa-controller.ts';
import { parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';
import { webHpa } from './min-replicas/built-decision.ts';

const never = new AbortController().signal;

describe('hpaController with an HPA that it no longer manages', () => {
  it('removes all state of a deleted HPA, or one that the selector no longer matches', async () => {
    const everything = ['decisions shop/web', 'world shop/web', 'series shop/web'];
    const retained = ['memory shop/web', 'week shop/web', 'memory of all in shop'];
    const gone = await removed(undefined, { isDryRun: false });
    expect(gone).to.deep.equal([...everything, 'sent statuses shop/web', ...retained]);
    const relabelled = await removed(webHpa({ minReplicas: 1 }), { isDryRun: false });
    expect(relabelled).to.deep.equal([...everything, ...retained]);
  });

  it('retains persisted state in a dry run', async () => {
    const found = await removed(undefined, { isDryRun: true });
    expect(found)
      .to.include('memory shop/web, but not the persisted state')
      .and.not.include('memory shop/web');
  });
});

/** The state that is removed when an unselected HPA is reconciled, in order. */
async function removed(
  hpa: ReturnType<typeof webHpa> | undefined,
  { isDryRun }: { readonly isDryRun: boolean },
): Promise<string[]> {
  const reported: string[] = [];
  const byKey = (what: string) => ({ remove: (key: string) => void reported.push(`${what} ${key}`) });
  const byName = (what: string) => ({
    remove: async (namespace: string, name: string) => void reported.push(`${what} ${namespace}/${name}`),
  });
  const controller = hpaController({
    hpas: { find: () => hpa, onChange: () => () => {}, synced: async () => {} },
    statuses: { latest: (_: string, found: unknown) => found },
    others: { observe: (key: string) => void reported.push(`sent statuses ${key}`) },
    ...{ decisions: byKey('decisions'), inputsReader: byKey('world') },
    ...{ series: byName('series'), autoMin: byName('week') },
    states: {
      async remove(namespace: string, name: string, { isRetained }: { readonly isRetained: boolean }) {
        reported.push(`memory ${namespace}/${name}${isRetained ? ', but not the persisted state' : ''}`);
      },
      release: (namespace: string) => void reported.push(`memory of all in ${namespace}`),
    },
    clock: new ManualClock(),
    options: { selector: parseLabelSelector('app=other'), concurrentSyncs: 1, isDryRun },
  } as never);
  expect(await controller.reconcile('shop/web', never)).to.deep.equal({});
  return reported;
}
