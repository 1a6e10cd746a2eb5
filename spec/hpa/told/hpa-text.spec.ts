import { expect } from 'chai';
import { hpaText } from '#lib/hpa/told/hpa-text.ts';
import { TOLD_AT_MS, type ToldFacts, ToldHpas } from './told-hpas.ts';

const without = { proposedReplicas: undefined, leadingMetric: undefined };

describe('hpaText', () => {
  const textOf = (told: ToldHpas, minimum?: string) =>
    hpaText(told.log.find('shop/web') ?? expect.fail('it was decided'), minimum);

  it('tells of a dry run what it would do, and whether the status says the same', () => {
    const told = new ToldHpas();
    const facts: ToldFacts = { isDryRun: true, desiredReplicas: 3, proposedReplicas: 3, ratio: 1.5 };
    told.decided('shop/web', TOLD_AT_MS, { ...facts, statusSays: 3 });
    told.decided('shop/web', TOLD_AT_MS + 15_000, { ...facts, statusSays: 2, isScaled: true });
    told.decided('shop/web', TOLD_AT_MS + 30_000, facts); // nobody has written a status
    expect(textOf(told)).to.equal(`HorizontalPodAutoscaler shop/web
decided at 2026-01-01T12:00:30Z
2 replicas, bounds 2 to 100: would scale to 3
cpu resource: no mean of 10: asks for 2, which leads
  ratio 1.5: outside of the tolerance
  scales up above 11, down below 9

the last 3 decisions, the latest first:
2026-01-01T12:00:30Z  2 -> 3  dry run, other than the status says  metrics, metrics ask for 3
2026-01-01T12:00:15Z  2 -> 3  dry run, other than the status says  metrics, metrics ask for 3
2026-01-01T12:00:00Z  2 -> 3  dry run, as the status says  metrics, metrics ask for 3`);
  });

  it('tells who else acts on it, which annotation counts for nothing, and what the week says', () => {
    const told = new ToldHpas();
    const lost = { step: 'no-scale', currentReplicas: undefined, desiredReplicas: undefined } as const;
    const problem = 'the annotation platform.stke/resync-period "5" is no duration';
    told.decided('shop/web', TOLD_AT_MS, { ...without, ...lost, error: 'no such target', problem });
    expect(textOf(told, 'left alone')).to.equal(`HorizontalPodAutoscaler shop/web
decided at 2026-01-01T12:00:00Z
the scale of the target is not known; bounds 2 to 100
cpu resource: no mean of 10: asks for 2
  ratio 1: outside of the tolerance
  scales up above 11, down below 9
not heeded: the annotation platform.stke/resync-period "5" is no duration
minReplicas by the week: left alone

the last 1 decisions, the latest first:
2026-01-01T12:00:00Z  ? -> ?  stayed  no-scale: no such target`);
    const met = new ToldHpas();
    met.log.steppedAside('shop/web', { manager: 'other', writtenAtMs: TOLD_AT_MS - 5000 }, TOLD_AT_MS);
    expect(textOf(met)).to.equal(`HorizontalPodAutoscaler shop/web
left alone, for "other" acted on it at 2026-01-01T11:59:55Z

the last 1 decisions, the latest first:
2026-01-01T12:00:00Z  ? -> ?  stayed  controlled-elsewhere`);
  });

  it('tells a calculation of two hundred lines whole', () => {
    const told = new ToldHpas();
    told.decided('shop/web', TOLD_AT_MS);
    const found = told.log.find('shop/web') ?? expect.fail('it was decided');
    const { explanation: explained } = found;
    const [metric] = explained?.metrics ?? [];
    if (!explained || !metric) throw new Error('it was explained');
    const { proposal: _, ...others } = metric;
    const failed = { ...others, failure: { reason: '', message: 'm', error: '', isRefusal: false } };
    const linesOf = (count: number) => {
      const metrics = Array.from({ length: count }, (_, place) => ({ ...failed, name: `m${place}` }));
      const explanation = { ...explained, metrics };
      return hpaText({ ...found, explanation }, undefined)
        .split('\n')
        .slice(2, -3);
    };
    const whole = linesOf(199);
    expect([whole.length, whole.at(-1)]).to.deep.equal([200, 'm198: unknown: m']);
    const cut = linesOf(200);
    expect(cut).to.have.lengthOf(201);
    expect(cut.slice(99, 102)).to.deep.equal([
      ...['m98: unknown: m', '… 1 more lines; as JSON there are all …', 'm100: unknown: m'],
    ]);
  });

  it('shortens a line of more than a thousand characters, and says by how much', () => {
    const told = new ToldHpas();
    const lineOf = (length: number) => {
      told.decided('shop/web', TOLD_AT_MS, {
        ratio: null,
        metric: 'x'.repeat(length - ': unknown: nobody serves it'.length),
      });
      return textOf(told).split('\n')[3] ?? '';
    };
    expect(lineOf(1000))
      .to.match(/x: unknown: nobody serves it$/)
      .and.have.lengthOf(1000);
    expect(lineOf(1001)).to.match(/x: unknown: nobody serves i… and 1 more characters$/);
  });
});
