import type { PATCH_TYPES } from '#spec/support/plain-client.ts';

/** A request that is sent to two API servers. */
export interface RequestStep {
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** May contain `{{VARIABLE}}`, like bodies. */
  readonly path: string;
  readonly body?: unknown;
  readonly patch?: keyof typeof PATCH_TYPES;
  readonly accept?: string;
  /** Variables for later steps, each with its path in the response. */
  readonly keep?: Readonly<Record<string, readonly string[]>>;
}

/** A response without values that differ between runs. */
export interface StepResult {
  readonly status: number;
  readonly body: unknown;
}

/** Sends a request as administrator. */
export type SendRequest = (request: {
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}) => Promise<{ readonly status: number; readonly body: string }>;
