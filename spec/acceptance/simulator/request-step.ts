import type { PATCH_TYPES } from '#spec/support/plain-client.ts';

/** One request of a series that is sent to two API servers. */
export interface RequestStep {
  readonly name: string;
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** May hold `{{VARIABLE}}`, as bodies may. */
  readonly path: string;
  readonly body?: unknown;
  readonly patch?: keyof typeof PATCH_TYPES;
  readonly accept?: string;
  /** Variables that later steps use, by where they are found in the response. */
  readonly keep?: Readonly<Record<string, readonly string[]>>;
}

/** What a server sent, without what differs from run to run. */
export interface StepResult {
  readonly status: number;
  readonly body: unknown;
}

/** Sends one request, as an administrator. */
export type SendRequest = (request: {
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}) => Promise<{ readonly status: number; readonly body: string }>;
