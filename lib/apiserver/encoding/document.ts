import { goJson } from './go-json.ts';
import { goYaml } from './go-yaml.ts';
import type { JsonObject } from './json-value.ts';
import { ProtobufWriter } from './protobuf-writer.ts';
import { runtimeUnknown } from './runtime-unknown.ts';

/** A whole response in Kubernetes' object model, in no encoding yet. */
export interface Document {
  /** Empty where Kubernetes leaves it out. */
  readonly apiVersion: string;
  readonly kind: string;
  /** Everything but kind and apiVersion, in the order in which it is published. */
  fields(): JsonObject;
  /** Writes the same to the document's protobuf message. */
  writeFields(message: ProtobufWriter): void;
}

/** How a document is encoded. */
export interface Encoding {
  readonly format: 'json' | 'yaml' | 'protobuf';
  /** Whether JSON is indented; the other formats know no difference. */
  readonly isPretty: boolean;
}

/** Encodes a document as Kubernetes' own serializers do: only JSON on one line ends with a line break. */
export function encodeDocument(document: Document, { format, isPretty }: Encoding): Buffer {
  if (format === 'protobuf') {
    const message = new ProtobufWriter();
    document.writeFields(message);
    return runtimeUnknown(document, message.finish());
  }
  const json = documentJson(document);
  if (format === 'yaml') return Buffer.from(goYaml(json));
  return Buffer.from(isPretty ? goJson(json, 2) : `${goJson(json)}\n`);
}

/** The document as one JSON object. */
export function documentJson(document: Document): JsonObject {
  const { kind, apiVersion } = document;
  return { kind, ...(apiVersion && { apiVersion }), ...document.fields() };
}
