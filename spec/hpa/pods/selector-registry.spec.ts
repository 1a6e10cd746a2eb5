import { expect } from 'chai';
import fc from 'fast-check';
import { SelectorRegistry } from '#lib/hpa/pods/selector-registry.ts';
import { type LabelSelector, parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import { builtPod } from '../built-world.ts';

describe('SelectorRegistry', () => {
  const hpa = (name: string, selector: string, namespace = 'default') => ({
    ...{ name, namespace, selector: parseLabelSelector(selector) },
  });

  it('names the others that select one of the pods, in the same namespace', () => {
    const registry = new SelectorRegistry();
    registry.set('default/a', hpa('a', 'app=web'));
    registry.set('default/b', hpa('b', 'tier in (x)'));
    registry.set('default/c', hpa('c', 'app'));
    registry.set('other/d', hpa('d', 'app=web', 'other'));
    const pods = [builtPod('p', { labels: { app: 'web', tier: 'x' } })];
    expect([...registry.rivalsOf('default/a', 'default', pods)].sort()).to.deep.equal([
      'default/b',
      'default/c',
    ]);
    registry.set('default/c', hpa('c', 'app=db'));
    registry.delete('default/b');
    expect(registry.rivalsOf('default/a', 'default', pods)).to.deep.equal([]);
  });

  it('finds what comparing with every HPA finds', () => {
    const label = fc.constantFrom('a', 'b', 'c');
    const value = fc.constantFrom('a', 'b', 'c', '1', '2');
    const selectors = fc.constantFrom(
      'a=a',
      'a=b',
      'a',
      '!a',
      'b in (a,c)',
      'b in (b)',
      'c!=a,a=a',
      'c=c,b',
      'a notin (a)',
      'a in (b,c),b!=a,!c',
      'c>1',
    );
    const labels = fc.dictionary(label, value, { maxKeys: 3 });
    fc.assert(
      fc.property(fc.array(selectors, { maxLength: 6 }), fc.array(labels, { maxLength: 4 }), (texts, all) => {
        const registry = new SelectorRegistry();
        const hpas = texts.map((text, place) => hpa(`h${place}`, text));
        for (const one of hpas) registry.set(`default/${one.name}`, one);
        const pods = all.map((own, place) => builtPod(`p${place}`, { labels: own }));
        const found = registry.rivalsOf('default/h0', 'default', pods);
        const isSelecting = ({ selector }: { readonly selector: LabelSelector }) =>
          pods.some((pod) => selector.matches(pod.labels));
        const expected = hpas
          .slice(1)
          .filter(isSelecting)
          .map(({ name }) => `default/${name}`);
        expect([...found].sort()).to.deep.equal(expected.sort());
      }),
    );
  });
});
