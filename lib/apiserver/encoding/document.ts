import { goJson, goJsonText, type JsonObject } from './json.ts';
import { ProtobufWriter } from './protobuf-writer.ts';
import { runtimeUnknown } from './runtime-unknown.ts';
import { goYaml } from './yaml.ts';

/** A whole response in Kubernetes' object model, in no encoding yet. */
export interface Document {
  /** Empty where Kubernetes leaves it out. */
  readonly apiVersion: string;
  readonly kind: string;
  /** Everything but kind and apiVersion, in the order in which it is published. */
  fields(): JsonObject;
  /** The same as JSON on one line, without the braces around it. */
  membersText(): string;
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
export function encodeDocument(document: Document, encoding: Encoding): Buffer {
  const encoded = textOrBytes(document, encoding);
  return typeof encoded === 'string' ? Buffer.from(encoded) : encoded;
}

/** The same, but as text where the format is one. */
export function textOrBytes(document: Document, { format, isPretty }: Encoding): string | Buffer {
  if (format === 'protobuf') {
    const message = new ProtobufWriter();
    document.writeFields(message);
    return runtimeUnknown(document, message.finish());
  }
  if (format === 'yaml') return goYaml(documentJson(document));
  return isPretty ? goJson(documentJson(document), 2) : documentText(document);
}

function documentText({ kind, apiVersion, membersText }: Document): string {
  const type = `"kind":${goJsonText(kind)}${apiVersion && `,"apiVersion":${goJsonText(apiVersion)}`}`;
  const members = membersText();
  return `{${type}${members && ','}${members}}\n`;
}

/** The document as one JSON object. */
export function documentJson(document: Pick<Document, 'apiVersion' | 'kind' | 'fields'>): JsonObject {
  const { kind, apiVersion } = document;
  return { kind, ...(apiVersion && { apiVersion }), ...document.fields() };
}
