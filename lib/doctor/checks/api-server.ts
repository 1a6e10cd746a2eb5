import * as z from 'zod/mini';
import { ApiError } from '#lib/kubernetes/client/api-error.ts';
import { describeError } from '#lib/telemetry/logger.ts';
import { API_DIAGNOSES } from '../api-diagnoses.ts';
import type { Check } from '../check.ts';
import { failedBy, ok } from '../finding.ts';

const failed = failedBy(API_DIAGNOSES);

const VERSION = z.object({ gitVersion: z.string() });

/** Whether the API server responds, and believes that we are who we say. */
export const apiServer: Check = {
  name: 'api-server',
  title: 'API server',

  async run(context) {
    const { origin } = context.access.server;
    try {
      const { gitVersion } = VERSION.parse(await context.get('/version', 'get path /version'));
      return [ok(origin, `responds, version ${gitVersion}`)];
    } catch (error) {
      const diagnosis =
        error instanceof ApiError && error.statusCode === 401
          ? 'api-server-refuses-credentials'
          : 'api-server-unreachable';
      return [failed(origin, describeError(error), { diagnosis, SERVER: origin })];
    }
  },
};
