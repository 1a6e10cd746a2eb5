import { expect } from 'chai';
import { rivalsOf } from '#lib/hpa/rivals.ts';
import { parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';
import { builtPod } from './built-world.ts';

describe('rivalsOf', () => {
  it('names the HPAs that select one of the pods', () => {
    const hpa = (name: string, selector: string) => ({
      ...{ name, namespace: 'default', selector: parseLabelSelector(selector) },
    });
    const others = [hpa('one', 'app=web'), hpa('two', 'app=db'), hpa('three', 'app in (web,db)')];
    expect(rivalsOf([builtPod('a')], others)).to.deep.equal(['default/one', 'default/three']);
    expect(rivalsOf([], others)).to.deep.equal([]);
  });

  it('does not compare each of thousands of pods with selectors that their few values rule out', () => {
    let compared = 0;
    const hpa = (name: string, text: string) => {
      const selector = parseLabelSelector(text);
      const matches = (labels: Readonly<Record<string, string>>) => {
        compared++;
        return selector.matches(labels);
      };
      return { name, namespace: 'default', selector: Object.assign(Object.create(selector), { matches }) };
    };
    const pods = Array.from({ length: 5000 }, (_, place) =>
      builtPod(`p${place}`, { labels: { app: 'web', pod: `web-${place}` } }),
    );
    const texts = ['app in (a,b)', '!app', 'app notin (web,db)', 'app!=web', 'other', 'app,other in (a,b)'];
    const others = texts.map((text, place) => hpa(`h${place}`, text));
    expect(rivalsOf(pods, [...others, hpa('last', 'pod in (web-4999)')])).to.deep.equal(['default/last']);
    expect(compared).to.equal(5000);
  });
});
