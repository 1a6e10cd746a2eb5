import type { Check } from './check.ts';
import type { Diagnoses } from './diagnosis.ts';
import type { Permission } from './permission.ts';

/** What a subsystem brings to the doctor of its program. */
export interface DoctorPart {
  /** What its server must be allowed. */
  readonly permissions: readonly Permission[];
  /** What is looked at, in this order. */
  readonly checks: readonly Check[];
  /** What these can find wrong; the page about troubleshooting has a section for each. */
  readonly diagnoses: Diagnoses;
}
