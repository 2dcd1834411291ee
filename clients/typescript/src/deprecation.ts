// Tells, once, of each operation that is going to be taken away. Sources: RFC 9745, RFC 8594.

/** An operation that is going to be taken away, and the words about it. */
export interface DeprecationNotice {
  operation: string;
  message: string;
  since: Date | undefined;
  sunset: Date | undefined;
  link: string | undefined;
}

/** Looks at the headers of answers. */
export class Deprecations {
  readonly #tell: (notice: DeprecationNotice) => void;
  readonly #told = new Set<string>();

  constructor(tell: (notice: DeprecationNotice) => void) {
    this.#tell = tell;
  }

  heed(operation: string, headers: Headers): void {
    if (this.#told.has(operation) || !(headers.has("deprecation") || headers.has("sunset"))) return;
    this.#told.add(operation);
    this.#tell(noticeOf(operation, headers));
  }
}

function noticeOf(operation: string, headers: Headers): DeprecationNotice {
  const moment = /^@([0-9]{1,10})$/.exec((headers.get("deprecation") ?? "").trim());
  const since = moment === null ? undefined : new Date(Number(moment[1]) * 1000);
  const parsed = new Date(headers.get("sunset") ?? "");
  const sunset = Number.isNaN(parsed.getTime()) ? undefined : parsed;
  const link = /<([^<>]{1,500})>\s*;[^,<]*\brel="?(?:sunset|deprecation)\b/i.exec(headers.get("link") ?? "")?.[1];
  const words = [`${operation} is deprecated`];
  if (since !== undefined) words.push(`since ${day(since)}`);
  if (sunset !== undefined) words.push(`and ends on ${day(sunset)}`);
  return { operation, message: words.join(" ") + (link === undefined ? "" : `; see ${link}`), since, sunset, link };
}

/** As Node tells of its own deprecations, and on the console elsewhere. */
export function warn(notice: DeprecationNotice): void {
  const { process } = globalThis as { process?: { emitWarning?: (message: string, type: string) => void } };
  if (process?.emitWarning) process.emitWarning(notice.message, "DeprecationWarning");
  else console.warn(`DeprecationWarning: ${notice.message}`);
}

function day(date: Date): string {
  return date.toISOString().slice(0, 10);
}
