import { field, MessageType } from '#lib/apiserver/encoding/message-type.ts';
import { WHOLE_NUMBER } from '#lib/apiserver/encoding/value-types.ts';
import type { ObjectResource } from '#lib/apiserver/resources/api-group.ts';
import type { ObjectBlock, ServedObject } from '#lib/apiserver/resources/served-object.ts';

/** An object of an invented kind with a size, encoded as field 2. */
export class Thing implements ServedObject {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly creationTimestampMs = Date.UTC(2026, 0, 1);
  readonly size: number;

  constructor(
    name: string,
    {
      namespace,
      labels = {},
      size = 1,
    }: { namespace?: string | undefined; labels?: Readonly<Record<string, string>>; size?: number } = {},
  ) {
    this.name = name;
    this.namespace = namespace;
    this.labels = labels;
    this.size = size;
  }

  get content(): Thing {
    return this;
  }

  get contentType(): MessageType<Thing> {
    return THING;
  }
}

const THING = new MessageType<Thing>({
  fields: { size: field(WHOLE_NUMBER, { number: 2, of: ({ size }) => size }) },
});

/** A resource `things` that serves the current batches, for any query. */
export function thingsResource(
  batches: () => readonly ObjectBlock[],
  changes: Partial<ObjectResource<Thing>> = {},
): ObjectResource<Thing> {
  return {
    type: 'objects',
    name: 'things',
    singularName: 'thing',
    kind: 'Thing',
    listKind: 'ThingList',
    isNamespaced: false,
    columns: [
      {
        name: 'Name',
        type: 'string',
        format: 'name',
        description: '',
        priority: 0,
        cell: ({ name }) => name,
      },
      { name: 'Size', type: 'integer', format: '', description: '', priority: 1, cell: ({ size }) => size },
    ],
    get: ({ namespace, name }) =>
      batches()
        .flat()
        .find((thing) => thing.name === name && (thing.namespace ?? '') === namespace) as Thing | undefined,
    list: batches,
    ...changes,
  };
}
