import { expect } from 'chai';
import { renderOverview } from '#lib/autoscaler/ui/render-page.ts';
import type { UiSummary } from '#lib/ui/page.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('renderOverview', () => {
  for (const [what, summary, shown] of [
    ['all is well', { unhealthy: 0 }, 'well ScaledObjects 3 none'],
    ['something is in trouble', { unhealthy: 2 }, 'look here ScaledObjects 3 2 not ready'],
    ['nothing is done', { unhealthy: 0, waiting: '3 left' }, 'waits ScaledObjects 3 3 left'],
    ['both are so', { unhealthy: 1, waiting: '2 left' }, 'look here ScaledObjects 3 1 not ready; 2 left'],
  ] as const)
    it(`says of a part whether ${what}`, () => {
      expect(overviewOf({ count: 3, problem: 'not ready', ...summary })).to.include(`${shown} what it shows`);
    });
});

function overviewOf(summary: UiSummary): string {
  const clock = new ManualClock();
  const part = {
    ...{ view: 'scaledobjects', title: 'ScaledObjects', about: 'what it shows', source: undefined },
    summary: () => summary,
  };
  const state = () => ({
    ...{ identity: 'replica-1', isLeader: true, leader: 'replica-1', leaderSince: undefined },
    ...{ controllers: ['scaledobjects'], startedAt: new Date(clock.nowMs()).toISOString() },
  });
  const page = renderOverview([{ part, summary }], { parts: [], state, version: '1', clock } as never);
  return page
    .toString()
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ');
}
