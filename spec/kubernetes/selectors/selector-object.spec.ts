import { expect } from 'chai';
import { selectorText } from '#lib/kubernetes/selectors/selector-object.ts';

describe('selectorText', () => {
  for (const [selector, text] of [
    [{ matchLabels: { app: 'web', tier: 'front' } }, 'app=web,tier=front'],
    [{ matchLabels: { app: 'web' }, matchExpressions: null }, 'app=web'],
    [
      {
        matchExpressions: [
          { key: 'app', operator: 'In', values: ['web', 'api'] },
          { key: 'tier', operator: 'NotIn', values: ['back'] },
        ],
      },
      'app in (web,api),tier notin (back)',
    ],
    [
      {
        matchLabels: { app: 'web' },
        matchExpressions: [
          { key: 'tier', operator: 'Exists' },
          { key: 'old', operator: 'DoesNotExist', values: null },
        ],
      },
      'app=web,tier,!old',
    ],
    [{ matchExpressions: [{ key: 'app', operator: 'In', values: null }] }, 'app in ()'],
  ] as const)
    it(`writes ${JSON.stringify(selector)} as ${text}`, () => {
      expect(selectorText(selector)).to.equal(text);
    });

  for (const none of [
    undefined,
    {},
    { matchLabels: {}, matchExpressions: [] },
    { matchLabels: { app: 1 } },
    { matchExpressions: [{ key: 'app', operator: 'Gt', values: ['1'] }] },
  ])
    it(`is undefined for ${JSON.stringify(none)}, which is invalid or would select every pod`, () => {
      expect(selectorText(none)).to.equal(undefined);
    });
});
