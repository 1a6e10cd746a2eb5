import { expect } from 'chai';
import { selectorText } from '#lib/hpa/decision/metric-kinds.ts';
import { shortenSelectors } from '#lib/kubernetes/selectors/readable-selectors.ts';

describe('shortenSelectors', () => {
  const shortened = (selector: Parameters<typeof selectorText>[0]) =>
    shortenSelectors(`external metric queue(${selectorText(selector)}): failed`);

  it('writes labels and requirements as kubectl does, and omits an absent selector', () => {
    expect(shortened(undefined)).to.equal('external metric queue: failed');
    expect(shortened({ matchLabels: { app: 'shop', 'a.b/c': '' } })).to.equal(
      'external metric queue{a.b/c=, app=shop}: failed',
    );
    const matchExpressions = [
      { key: 'zone', operator: 'In', values: ['a', 'b'] },
      { key: 'tier', operator: 'NotIn', values: ['x'] },
      ...[
        { key: 'old', operator: 'DoesNotExist' },
        { key: 'new', operator: 'Exists' },
      ],
    ];
    expect(shortened({ matchLabels: { app: 'shop' }, matchExpressions } as never)).to.equal(
      'external metric queue{app=shop, zone in (a, b), tier notin (x), !old, new}: failed',
    );
  });

  it('shortens each selector of an error', () => {
    const selector = selectorText({ matchLabels: { 'scaledobject.keda.sh/name': 'mail' } });
    expect(shortenSelectors(`metric s0(${selector}): unable to get default/s0/${selector}: none`)).to.equal(
      'metric s0{scaledobject.keda.sh/name=mail}: unable to get default/s0/{scaledobject.keda.sh/name=mail}: none',
    );
    expect(shortenSelectors('unable to get external metric default/down/nil: none')).to.equal(
      'unable to get external metric default/down: none',
    );
  });

  it('leaves other text, and reads the worst text in linear time', () => {
    for (const text of [
      '',
      '&LabelSelector{',
      'cpu resource',
      '&LabelSelector{MatchLabels:map[string]string{{}}',
    ])
      expect(shortenSelectors(text)).to.equal(text);
    const begun =
      '&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{';
    const worst = begun.repeat(20_000);
    expect(shortenSelectors(worst)).to.equal(worst);
    const requirements = `${begun}${'LabelSelectorRequirement{Key:a,'.repeat(50_000)}`;
    expect(shortenSelectors(requirements)).to.equal(requirements);
  });
});
