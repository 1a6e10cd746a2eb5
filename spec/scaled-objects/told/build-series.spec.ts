import { expect } from 'chai';
import { versionInfo } from '#lib/program.ts';
import { buildSeries } from '#lib/scaled-objects/told/build-series.ts';

describe('buildSeries', () => {
  it('tells what runs, under the labels that dashboards join by', () => {
    const info = versionInfo({ version: 'v24.1.0', platform: 'linux', arch: 'x64' });
    const series = buildSeries({ ...info, gitVersion: 'v1.2.3' });
    expect([...series.slices()].join('')).to.equal(
      '# HELP keda_build_info What this program is and runs on\n# TYPE keda_build_info gauge\n' +
        'keda_build_info{version="v1.2.3",git_commit="",goversion="nodev24.1.0",goos="linux",goarch="amd64"} 1\n',
    );
  });
});
