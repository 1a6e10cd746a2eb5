import { expect } from 'chai';
import { renderOverview } from '#lib/autoscaler/render-page.ts';
import type { UiSummary } from '#lib/ui/page.ts';
import { ManualClock } from '#spec/support/manual-clock.ts';

describe('renderOverview', () => {
  for (const [what, summary, shown] of [
    ['healthy', { unhealthy: 0 }, 'Healthy ScaledObjects 3 none'],
    ['with problems', { unhealthy: 2 }, 'Needs attention ScaledObjects 3 2 not ready'],
    ['paused', { unhealthy: 0, waiting: '3 left' }, 'Paused ScaledObjects 3 3 left'],
    [
      'partly paused with problems',
      { unhealthy: 1, waiting: '2 left' },
      'Needs attention ScaledObjects 3 1 not ready; 2 left',
    ],
  ] as const)
    it(`renders a view that is ${what}`, () => {
      expect(overviewOf({ count: 3, problem: 'not ready', ...summary })).to.include(`${shown} what it shows`);
    });
});

function overviewOf(summary: UiSummary): string {
  const clock = new ManualClock();
  const part = {
    ...{ view: 'scaledobjects', title: 'ScaledObjects', about: 'what it shows' },
    summary: () => summary,
    render: () => expect.fail('the overview has no list'),
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
