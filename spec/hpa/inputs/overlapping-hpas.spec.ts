import { expect } from 'chai';
import fc from 'fast-check';
import { runAllSteps } from '#lib/concurrency/event-loop.ts';
import { findOverlappingHpas, SelectorRegistry } from '#lib/hpa/inputs/overlapping-hpas.ts';
import { type LabelSelector, parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import { builtPod } from '#spec/hpa/built-inputs.ts';

describe('findOverlappingHpas', () => {
  it('returns the HPAs that select one of the pods', () => {
    const hpa = (name: string, selector: string) => ({
      ...{ name, namespace: 'default', selector: parseLabelSelector(selector) },
    });
    const others = [hpa('one', 'app=web'), hpa('two', 'app=db'), hpa('three', 'app in (web,db)')];
    expect(runAllSteps(findOverlappingHpas([builtPod('a')], others))).to.deep.equal([
      'default/one',
      'default/three',
    ]);
    expect(runAllSteps(findOverlappingHpas([], others))).to.deep.equal([]);
  });

  it('skips selectors that the label values of thousands of pods rule out', () => {
    let compared = 0;
    const hpa = (name: string, text: string) => {
      const selector = parseLabelSelector(text);
      const matches = (labels: Readonly<Record<string, string>>) => {
        compared++;
        return selector.matches(labels);
      };
      return { name, namespace: 'default', selector: Object.assign(Object.create(selector), { matches }) };
    };
    const pods = Array.from({ length: 5000 }, (_, index) =>
      builtPod(`p${index}`, { labels: { app: 'web', pod: `web-${index}` } }),
    );
    const texts = ['app in (a,b)', '!app', 'app notin (web,db)', 'app!=web', 'other', 'app,other in (a,b)'];
    const others = texts.map((text, index) => hpa(`h${index}`, text));
    expect(
      runAllSteps(findOverlappingHpas(pods, [...others, hpa('last', 'pod in (web-4999)')])),
    ).to.deep.equal(['default/last']);
    expect(compared).to.equal(5000);
  });
});

describe('SelectorRegistry', () => {
  const hpa = (name: string, selector: string, namespace = 'default') => ({
    ...{ name, namespace, selector: parseLabelSelector(selector), text: selector },
  });

  it('returns other HPAs of the namespace that select one of the pods', () => {
    const registry = new SelectorRegistry();
    registry.set('default/a', hpa('a', 'app=web'));
    registry.set('default/b', hpa('b', 'tier in (x)'));
    registry.set('default/c', hpa('c', 'app'));
    registry.set('other/d', hpa('d', 'app=web', 'other'));
    const pods = [builtPod('p', { labels: { app: 'web', tier: 'x' } })];
    expect([...runAllSteps(registry.findOverlappingHpas('default/a', 'default', pods))].sort()).to.deep.equal(
      ['default/b', 'default/c'],
    );
    registry.set('default/c', hpa('c', 'app=db'));
    registry.delete('default/b');
    expect(runAllSteps(registry.findOverlappingHpas('default/a', 'default', pods))).to.deep.equal([]);
  });

  it('returns the parsed selector of an HPA as long as its text is the same', () => {
    const registry = new SelectorRegistry();
    const web = hpa('a', 'app=web');
    registry.set('default/a', web);
    expect(registry.find('default/a', 'app=web')).to.equal(web.selector);
    expect(registry.find('default/a', 'app=db')).to.equal(undefined);
    registry.delete('default/a');
    expect(registry.find('default/a', 'app=web')).to.equal(undefined);
  });

  it('compares each HPA in steps of its own', () => {
    const stepsWith = (hpaCount: number) => {
      const registry = new SelectorRegistry();
      for (let index = 0; index < hpaCount; index++) {
        registry.set(`default/h${index}`, hpa(`h${index}`, `app=web,tier notin (t${index})`));
      }
      const steps = registry.findOverlappingHpas('default/own', 'default', [builtPod('p')]);
      let stepCount = 0;
      let step = steps.next();
      for (; !step.done; step = steps.next()) stepCount++;
      expect(step.value).to.have.length(hpaCount);
      return stepCount;
    };
    expect(stepsWith(1000) - stepsWith(0)).to.be.at.least(1000);
  });

  it('finds the same as comparing with every HPA', () => {
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
        const hpas = texts.map((text, index) => hpa(`h${index}`, text));
        for (const one of hpas) registry.set(`default/${one.name}`, one);
        const pods = all.map((own, index) => builtPod(`p${index}`, { labels: own }));
        const found = runAllSteps(registry.findOverlappingHpas('default/h0', 'default', pods));
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
