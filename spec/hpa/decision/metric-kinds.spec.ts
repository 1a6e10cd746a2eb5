import { expect } from 'chai';
import { selectorText } from '#lib/hpa/decision/metric-kinds.ts';

describe('selectorText', () => {
  it('formats none as nil, and an empty selector', () => {
    expect(selectorText(undefined)).to.equal('nil');
    expect(selectorText({})).to.equal(
      '&LabelSelector{MatchLabels:map[string]string{},MatchExpressions:[]LabelSelectorRequirement{},}',
    );
  });

  it('sorts labels, and retains the order of expressions', () => {
    const matchExpressions = [
      { key: 'tier', operator: 'In', values: ['x', 'y'] },
      { key: 'a', operator: 'Exists' },
    ];
    expect(selectorText({ matchLabels: { b: '2', a: '1' }, matchExpressions })).to.equal(
      '&LabelSelector{MatchLabels:map[string]string{a: 1,b: 2,},MatchExpressions:[]LabelSelectorRequirement{' +
        'LabelSelectorRequirement{Key:tier,Operator:In,Values:[x y],},' +
        'LabelSelectorRequirement{Key:a,Operator:Exists,Values:[],},},}',
    );
  });
});
