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
});
