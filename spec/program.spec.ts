import { expect } from 'chai';
import { versionInfo } from '#lib/program.ts';

describe('versionInfo', () => {
  it('has the version and platform in the form of Kubernetes', () => {
    expect(versionInfo({ version: 'v24.0.0', platform: 'linux', arch: 'x64' })).to.deep.include({
      platform: 'linux/amd64',
      goVersion: 'nodev24.0.0',
    });
    expect(versionInfo({ version: 'v24.0.0', platform: 'linux', arch: 'arm64' }).platform).to.equal(
      'linux/arm64',
    );
    expect(versionInfo(process).gitVersion).to.match(/^v\d+\.\d+\.\d+$/);
  });
});
