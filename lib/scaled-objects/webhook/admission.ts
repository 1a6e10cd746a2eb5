import { brokenByAuthentication, unsupportedIn } from '../triggers/authentication/resolve-authentication.ts';
import type { TriggerTypes } from '../triggers/trigger-registry.ts';
import { brokenByTriggers } from '../validation/validate-scaled-object.ts';
import {
  type AdmissionRequest,
  admissionResponse,
  readAdmissionReview,
  type Verdict,
} from './admission-review.ts';
import { type JudgedWorld, judgeScaledObject } from './judge-scaled-object.ts';
import { lenientVerdict } from './lenient-verdict.ts';
import { reviewed } from './reviewed-object.ts';
import { unknownTypes } from './unknown-types.ts';
import { UnreadableReview } from './unreadable-review.ts';
import type { WebhookSeries } from './webhook-series.ts';

/** What {@link Admission} works with. */
export interface AdmissionOptions extends JudgedWorld {
  /** Whether what objects are judged by is known yet. */
  readonly isSynced: boolean;
  readonly types: Pick<TriggerTypes, 'get'>;
  readonly series: WebhookSeries;
}

type Judge = (request: AdmissionRequest) => Promise<Verdict>;

/** How all paths begin, as KEDA's do; the kind follows. */
const PATHS = '/validate-keda-sh-v1alpha1-';
const ALLOWED: Verdict = { isAllowed: true };
const UNSYNCED: Verdict = {
  isAllowed: true,
  warnings: [
    'The autoscaler has just started and did not check this object; its condition tells what is wrong with it',
  ],
};

/** Judges objects that an API server is about to keep, by the checks that reconcile makes of them. */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #judges: ReadonlyMap<string, Judge>;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    const authentication: Judge = async (request) => judgeAuthentication(request);
    this.#judges = new Map<string, Judge>([
      [`${PATHS}scaledobject`, (request) => this.#scaledObject(request)],
      [`${PATHS}scaledjob`, async (request) => this.#scaledJob(request)],
      [`${PATHS}triggerauthentication`, authentication],
      [`${PATHS}clustertriggerauthentication`, authentication],
    ]);
  }

  /** The paths at which reviews are taken. */
  get paths(): ReadonlySet<string> {
    return new Set(this.#judges.keys());
  }

  /**
   * The response to a review.
   *
   * @throws {UnreadableReview} where the body is no review of the kind that the path is for
   */
  async review(path: string, body: Uint8Array): Promise<object> {
    const judge = this.#judges.get(path);
    if (!judge) throw new UnreadableReview(`nothing is reviewed at ${path}`);
    const request = readAdmissionReview(body);
    const isJudged = request.operation === 'CREATE' || request.operation === 'UPDATE';
    return admissionResponse(request.uid, isJudged ? await judge(request) : ALLOWED);
  }

  async #scaledObject(request: AdmissionRequest): Promise<Verdict> {
    const { series, isSynced, types } = this.#options;
    const { operation, isDryRun } = request;
    const object = reviewed.scaledObject(request.object);
    const before = operation === 'CREATE' ? undefined : reviewed.scaledObject(request.oldObject);
    const labels = { namespace: object.metadata.namespace ?? '', action: before ? 'update' : 'create' };
    series.validated(labels);
    if (!isSynced) return UNSYNCED;
    const { rule, ...strict } = await judgeScaledObject(object, { before, isDryRun }, this.#options);
    const verdict = lenientVerdict(strict, request);
    if (rule && !verdict.isAllowed) series.refused({ ...labels, reason: rule });
    return {
      ...verdict,
      warnings: [...(verdict.warnings ?? []), ...unknownTypes(object.spec.triggers, types)],
    };
  }

  #scaledJob(request: AdmissionRequest): Verdict {
    const { spec } = reviewed.scaledJob(request.object);
    const message = brokenByTriggers(spec.triggers);
    const warnings = unknownTypes(spec.triggers, this.#options.types);
    return lenientVerdict({ isAllowed: message === undefined, message, warnings }, request);
  }
}

function judgeAuthentication(request: AdmissionRequest): Verdict {
  const { spec = {} } = reviewed.authentication(request.object);
  const message = brokenByAuthentication(spec);
  const unsupported = unsupportedIn(spec);
  const warnings = unsupported ? [`It uses ${unsupported}, which is not supported`] : [];
  return lenientVerdict({ isAllowed: message === undefined, message, warnings }, request);
}
