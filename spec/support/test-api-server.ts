import { Registry } from 'prom-client';
import { type ApiServer, type ApiServerOptions, startApiServer } from '#lib/apiserver/api-server.ts';
import type { VersionInfo } from '#lib/apiserver/discovery/version-info.ts';
import {
  type KeyAndCertificate,
  makeSelfSignedCertificate,
} from '#lib/apiserver/serving/self-signed-certificate.ts';
import { systemClock } from '#lib/time/clock.ts';
import { RecordingLogger } from './recording-logger.ts';

/** The version that the test server reports. */
export const TEST_VERSION: VersionInfo = {
  major: '1',
  minor: '33',
  gitVersion: 'v1.2.3',
  gitCommit: '0123abc',
  gitTreeState: 'clean',
  buildDate: '2026-01-01T00:00:00Z',
  goVersion: 'node v24.0.0',
  compiler: 'none',
  platform: 'linux/amd64',
};

let certificate: Promise<KeyAndCertificate> | undefined;

/** An API server on its own port of 127.0.0.1, by default without resources. */
export async function startTestApiServer(options: Partial<ApiServerOptions> = {}): Promise<ApiServer> {
  certificate ??= makeSelfSignedCertificate(Date.now());
  return await startApiServer({
    groups: [],
    healthChecks: [],
    registry: new Registry(),
    version: TEST_VERSION,
    certificates: { current: await certificate, named: [], onChange: () => {} },
    clock: systemClock,
    logger: new RecordingLogger(),
    bindAddress: '127.0.0.1',
    port: 0,
    ...options,
  });
}
