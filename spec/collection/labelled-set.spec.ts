import { expect } from 'chai';
import fc from 'fast-check';
import { LabelledSet } from '#lib/collection/labelled-set.ts';
import { parseLabelSelector } from '#lib/kubernetes/selectors/label-selector.ts';

type Labels = Readonly<Record<string, string>>;

describe('LabelledSet', () => {
  const value = fc.constantFrom('a', 'b', '');
  const labels: fc.Arbitrary<Labels> = fc.record({ k: value, l: value }, { requiredKeys: [] });
  const text = fc.constantFrom(
    '',
    'k=a',
    'k==b',
    'k in (a,b)',
    'k in (b)',
    'k!=a',
    'k',
    '!l',
    'k=a,l=b',
    'm=a',
  );

  it('finds in their order all that a selector may match, whatever was added and deleted', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(labels, fc.boolean())),
        labels,
        text,
        (members, further, selectorText) => {
          const set = new LabelledSet<{ readonly labels: Labels }>();
          const added = members.map(([of, stays]) => ({ member: { labels: of }, stays }));
          for (const { member } of added) set.add(member);
          for (const { member, stays } of added) if (!stays) set.delete(member);
          const left = added.filter(({ stays }) => stays).map(({ member }) => member);
          expect([...set]).to.deep.equal(left);
          expect(set.size).to.equal(left.length);
          const selector = parseLabelSelector(selectorText);
          const matching = (among: Iterable<{ readonly labels: Labels }>) =>
            [...among].filter((one) => selector.matches({ ...further, ...one.labels }));
          expect(matching(set.candidates(selector))).to.deep.equal(matching(left));
        },
      ),
    );
  });

  it('offers one of a thousand by a label that all have', () => {
    const set = new LabelledSet<{ readonly labels: Labels }>();
    for (let index = 0; index < 1000; index++)
      set.add({ labels: { type: 'prometheus', queue: `q${index}` } });
    for (const member of [...set].slice(500)) set.delete(member);
    for (const wanted of ['queue=q7', 'queue==q7', 'queue in (q7)']) {
      const candidates = [...set.candidates(parseLabelSelector(`type=prometheus,${wanted}`))];
      expect(candidates.map((one) => one.labels)).to.deep.equal([{ type: 'prometheus', queue: 'q7' }]);
    }
  });

  it('offers no more of those that are left, however many have come and gone', () => {
    const set = new LabelledSet<{ readonly labels: Labels }>();
    const selector = parseLabelSelector('queue=q7');
    for (let round = 0; round < 3; round++) {
      const members = Array.from({ length: 10 }, (_, index) => ({ labels: { queue: `q${index}` } }));
      for (const member of members) set.add(member);
      expect([...set.candidates(selector)]).to.have.length(1);
      for (const member of members.slice(round)) set.delete(member);
      for (const member of members) set.delete(member);
      expect([...set.candidates(selector)]).to.deep.equal([]);
    }
  });

  it('counts a member once, however often it is added and deleted', () => {
    const set = new LabelledSet<{ readonly labels: Labels }>();
    const [member, other] = [{ labels: { k: 'a' } }, { labels: { l: 'a' } }];
    set.add(member);
    set.add(member);
    set.add(other);
    const selector = parseLabelSelector('k=b');
    expect([...set.candidates(selector)]).to.deep.equal([member, other]); // the other may get the label yet
    set.delete(other);
    set.delete(other);
    expect([...set.candidates(selector)]).to.deep.equal([]);
  });
});
