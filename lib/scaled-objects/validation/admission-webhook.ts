import { isDeepStrictEqual } from 'node:util';
import type { Workload } from '#lib/kubernetes/objects/workload.ts';
import { describeError } from '#lib/telemetry/error-text.ts';
import type { ManagedHpa } from '../api/informers.ts';
import type { ScaledObject, TriggerSpec } from '../api/scaled-object.ts';
import {
  compileScaledObject,
  type PreparedScaledObject,
  type PreparedTarget,
} from '../preparation/prepared-scaled-object.ts';
import { brokenByAuthentication, unsupportedIn } from '../triggers/authentication/resolve-authentication.ts';
import type { TriggerTypes } from '../triggers/trigger-registry.ts';
import {
  type AdmissionRequest,
  admissionResponse,
  MAX_WARNINGS,
  readAdmissionReview,
  reviewed,
  UnreadableReview,
  type Verdict,
} from './admission-review.ts';
import { CheckFailure, type Rule } from './check-failure.ts';
import { haveOneTarget } from './find-conflicts.ts';
import { brokenByTriggers, checkWithDefaults } from './validate-scaled-object.ts';
import type { WebhookSeries } from './webhook-series.ts';

interface AdmissionOptions extends ValidationInputs {
  /** Whether the informers are synced. */
  readonly isSynced: boolean;
  readonly types: Pick<TriggerTypes, 'get'>;
  readonly series: WebhookSeries;
}

type Reviewer = (request: AdmissionRequest) => Promise<Verdict>;

/** Prefix of all paths, followed by the lower-case kind, as in KEDA. */
const PATHS = '/validate-keda-sh-v1alpha1-';
const ALLOWED: Verdict = { isAllowed: true };
const UNSYNCED: Verdict = {
  isAllowed: true,
  warnings: ['The autoscaler has just started and did not check this object; see its condition Ready'],
};

/** Reviews objects before the API server stores them, with the checks of the controllers. */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #reviewers: ReadonlyMap<string, Reviewer>;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    const authentication: Reviewer = async (request) => reviewAuthentication(request);
    this.#reviewers = new Map<string, Reviewer>([
      [`${PATHS}scaledobject`, (request) => this.#scaledObject(request)],
      [`${PATHS}scaledjob`, async (request) => this.#scaledJob(request)],
      [`${PATHS}triggerauthentication`, authentication],
      [`${PATHS}clustertriggerauthentication`, authentication],
    ]);
  }

  get paths(): ReadonlySet<string> {
    return new Set(this.#reviewers.keys());
  }

  /**
   * @returns the AdmissionReview with the response
   * @throws {UnreadableReview} if the body is not a review of the kind that the path is for
   */
  async review(path: string, body: Uint8Array): Promise<object> {
    const reviewer = this.#reviewers.get(path);
    if (!reviewer) throw new UnreadableReview(`no webhook is served at ${path}`);
    const request = readAdmissionReview(body);
    const isReviewed = request.operation === 'CREATE' || request.operation === 'UPDATE';
    return admissionResponse(request.uid, isReviewed ? await reviewer(request) : ALLOWED);
  }

  async #scaledObject(request: AdmissionRequest): Promise<Verdict> {
    const { series, isSynced, types } = this.#options;
    const { operation, isDryRun } = request;
    const object = reviewed.scaledObject(request.object);
    const before = operation === 'CREATE' ? undefined : reviewed.scaledObject(request.oldObject);
    const labels = { namespace: object.metadata.namespace ?? '', action: before ? 'update' : 'create' };
    series.validated(labels);
    if (!isSynced) return UNSYNCED;
    const { rule, ...strict } = await reviewScaledObject(object, { before, isDryRun }, this.#options);
    const verdict = lenientVerdict(strict, request);
    if (rule && !verdict.isAllowed) series.refused({ ...labels, reason: rule });
    return {
      ...verdict,
      warnings: [...(verdict.warnings ?? []), ...unknownTypeWarnings(object.spec.triggers, types)],
    };
  }

  #scaledJob(request: AdmissionRequest): Verdict {
    const { spec } = reviewed.scaledJob(request.object);
    const message = brokenByTriggers(spec.triggers);
    const warnings = unknownTypeWarnings(spec.triggers, this.#options.types);
    return lenientVerdict({ isAllowed: message === undefined, message, warnings }, request);
  }
}

function reviewAuthentication(request: AdmissionRequest): Verdict {
  const { spec = {} } = reviewed.authentication(request.object);
  const message = brokenByAuthentication(spec);
  const unsupported = unsupportedIn(spec);
  const warnings = unsupported ? [`The object uses ${unsupported}, which is not supported`] : [];
  return lenientVerdict({ isAllowed: message === undefined, message, warnings }, request);
}

/** Cluster state for the checks, from the caches of informers, so that reviews do not wait for requests. */
export interface ValidationInputs {
  /** ScaledObjects with the same target or the same HPA name. */
  overlapping(prepared: PreparedScaledObject): Iterable<PreparedScaledObject>;
  overlappingHpas(prepared: PreparedScaledObject): Iterable<ManagedHpa>;
  workload(target: PreparedTarget['ref']): Workload | undefined;
  /** Resources for which a LimitRange of the namespace sets a default. @throws if that is not available in time */
  limitedByDefault(namespace: string): Promise<readonly string[]>;
}

/** A verdict with the violated rule. */
interface RuledVerdict extends Verdict {
  readonly rule?: Rule | undefined;
}

interface ReviewOptions {
  /** The previous version for an update. A conflict that it did not have yet is decided against the object. */
  readonly before: ScaledObject | undefined;
  readonly isDryRun: boolean;
}

/** A created object is younger than all existing ones. */
const YOUNGEST = '9999-12-31T23:59:59Z';
/** Older than any time. */
const OLDEST = '';
/** Used if the defaults are unknown: the check of requests then passes. */
const EVERYTHING = ['cpu', 'memory'];

/** Reviews a ScaledObject with the checks of its controller. */
export async function reviewScaledObject(
  object: ScaledObject,
  { before, isDryRun }: ReviewOptions,
  inputs: ValidationInputs,
): Promise<RuledVerdict> {
  const compiled = compileScaledObject(object);
  const { namespace, name, target, ineffectiveSettings: warnings } = compiled;
  const previous = before && compileScaledObject(before);
  const others = [...inputs.overlapping(compiled)]
    .filter((one) => one.name !== name)
    .map((one) => (previous && !overlap(one, previous) ? { ...one, createdAt: OLDEST } : one));
  const neighbours = {
    prepared: { ...compiled, uid: compiled.uid ?? '', ...(!before && { createdAt: YOUNGEST }) },
    ...{ objects: others, hpas: inputs.overlappingHpas(compiled) },
    workload: isDryRun ? undefined : inputs.workload(target.ref),
  };
  try {
    await checkWithDefaults(
      object,
      neighbours,
      () => inputs.limitedByDefault(namespace).catch(() => EVERYTHING), // the controller checks it again
    );
  } catch (error) {
    if (!(error instanceof CheckFailure)) throw error;
    return refused(error, warnings);
  }
  return { isAllowed: true, warnings };
}

function overlap(one: PreparedScaledObject, other: PreparedScaledObject): boolean {
  return haveOneTarget(one, other) || one.hpaName === other.hpaName;
}

function refused({ reason, rule }: CheckFailure, warnings: readonly string[]): RuledVerdict {
  return { isAllowed: false, message: reason, rule, warnings };
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Turns a rejection into a warning if an update does not change the spec, or the object is being deleted. The violation existed
 * before, and must not prevent changes of annotations or finalizers, also by the controller, which reports it in a condition.
 */
function lenientVerdict(verdict: Verdict, request: AdmissionRequest): Verdict {
  if (verdict.isAllowed || request.operation !== 'UPDATE') return verdict;
  const [object, before] = [fieldsOf(request.object), fieldsOf(request.oldObject)];
  const isLeaving = Boolean(fieldsOf(object.metadata).deletionTimestamp);
  if (!isLeaving && !isDeepStrictEqual(object.spec, before.spec)) return verdict;
  const { message = '', warnings = [] } = verdict;
  return { isAllowed: true, warnings: [message, ...warnings] };
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

/**
 * Warnings for unknown trigger types, each once. At most {@link MAX_WARNINGS}, because each lists all types, and the number of
 * triggers is chosen by the user.
 */
export function unknownTypeWarnings(
  triggers: readonly TriggerSpec[],
  types: Pick<TriggerTypes, 'get'>,
): readonly string[] {
  const warnings: string[] = [];
  for (const type of new Set(triggers.map((trigger) => trigger.type))) {
    try {
      types.get(type);
    } catch (error) {
      warnings.push(describeError(error));
      if (warnings.length === MAX_WARNINGS) break;
    }
  }
  return warnings;
}
