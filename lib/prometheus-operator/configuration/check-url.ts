import { refuse } from '../objects/refusal.ts';

/** As Go parses URLs: the host has no space, quote-like or control characters, and a port is a number. */
const URL_FORM =
  /^[a-z][a-z0-9+.-]*:\/\/(?:[\w\-.~!$&'()*+,;=:%]*@)?(?:\[[0-9a-f:.%]+\]|[\w\-.~!$&'()*+,;=%\u0080-\uffff]*)(?::\d*)?(?:[/?#][^\p{Cc}]*)?$/iu;
const BROKEN_ESCAPE = /%(?![0-9a-f]{2})/i;

/** @throws {Refusal} for a text that is no URL, with which Prometheus refuses its whole configuration */
export function checkUrl(field: string, url: string | undefined): void {
  if (url && (!URL_FORM.test(url) || BROKEN_ESCAPE.test(url))) refuse(`${field} is not a valid URL`);
}
