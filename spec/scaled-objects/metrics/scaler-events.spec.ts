import { expect } from 'chai';
import { recordStarted, recordStopped } from '#lib/scaled-objects/metrics/scaler-events.ts';

describe('recordStarted', () => {
  it('warns of unknown keys, and of missing objects that an authentication refers to', () => {
    const warnings: string[] = [];
    recordStarted(
      [
        {
          ...{
            index: 0,
            type: 'redis',
            name: 'jobs',
            scaler: 'jobs',
            isCached: false,
            unmatched: ['lenght'],
          },
          missing: ['TriggerAuthentication "ta": Secret default/login not found'],
          ...{ metrics: [], resource: undefined, push: undefined, error: undefined },
        },
      ],
      { normal: () => {}, warning: (reason, note) => void warnings.push(`${reason} ${note}`) },
    );
    expect(warnings).to.deep.equal([
      'KEDAScalerInfo Unmatched input property lenght in scaler redis (jobs)',
      'KEDAScalerInfo Scaler redis (jobs) uses an empty parameter: TriggerAuthentication "ta": Secret default/login not found',
    ]);
  });

  it('reports each type once, a bounded number of keys, and the end of polling', () => {
    const reported: string[] = [];
    const note = (...words: readonly string[]) => void reported.push(words.join(' '));
    const trigger = (type: string, unmatched: readonly string[] = []) => ({
      ...{
        index: 0,
        type,
        name: undefined,
        scaler: `${type}Scaler`,
        isCached: false,
        unmatched,
        missing: [],
      },
      ...{ metrics: [], resource: undefined, push: undefined, error: undefined },
    });
    const keys = Array.from({ length: 11 }, (_, index) => `${index}${'x'.repeat(120)}`);
    const own = { normal: note, warning: note };
    recordStarted([trigger('cron'), trigger('redis', keys), trigger('cron')], own);
    recordStopped(own);
    expect(reported).to.deep.equal([
      'KEDAScalersStarted Started scalers watch',
      'KEDAScalersStarted Scaler cron is built',
      'KEDAScalersStarted Scaler redis is built',
      ...keys
        .slice(0, 10)
        .map((key) => `KEDAScalerInfo Unmatched input property ${key.slice(0, 100)} in scaler redis`),
      'KEDAScalersStopped Stopped scalers watch',
    ]);
  });
});
