import * as z from 'zod/mini';
import { MalformedResponse } from '#lib/kubernetes/client/api-error.ts';

const LIST = z.object({
  kind: z.optional(z.string()),
  message: z.optional(z.string()),
  items: z.nullish(z.array(z.unknown())),
});

/** So much of what a server says is told. */
const LONGEST_MESSAGE = 200;

/**
 * The items of a list of a metrics API, unread. A Status is no list, whatever the code that it came with: what failed is
 * not taken for a list of nothing.
 *
 * @param of what the list should be of, as in `pods`
 * @throws {MalformedResponse} for what is no list
 */
export function listItems(response: unknown, of: string): readonly unknown[] {
  const list = LIST.safeParse(response);
  if (!list.success) throw new MalformedResponse(`the response is no list of ${of}`, { cause: list.error });
  const { kind, message = 'no reason given', items } = list.data;
  if (kind === 'Status')
    throw new MalformedResponse(
      `the response is no list of ${of} but a Status: ${message.slice(0, LONGEST_MESSAGE)}`,
    );
  return items ?? [];
}
