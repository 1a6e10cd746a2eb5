import { expect } from 'chai';
import { cyclesIn } from './until-next-cycle.ts';

describe('cyclesIn', () => {
  it('is how many cycles were timed', () => {
    const exposition = [
      'metrics_server_manager_tick_duration_seconds_bucket{le="+Inf"} 7',
      'metrics_server_manager_tick_duration_seconds_sum 0.5',
      'metrics_server_manager_tick_duration_seconds_count 7',
    ];
    expect(cyclesIn(`${exposition.join('\n')}\n`)).to.equal(7);
  });

  it('throws for a server without the series', () => {
    expect(() => cyclesIn('process_open_fds 7\n')).to.throw('Cannot count cycles');
  });
});
