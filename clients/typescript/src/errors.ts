// Everything this client throws, but for the reason of a signal that its caller aborted.

import { problems } from "./generated/problems.ts";
import type { ProblemCode } from "./generated/problems.ts";

/** One wrong field of a request. */
export interface FieldProblem {
  code: string;
  field: string;
  message: string;
}

/** What an error knows. Everything from the service is absent where nothing came from it. */
export interface ErrorFacts {
  status?: number | undefined;
  code: ProblemCode | (string & {});
  type?: string | undefined;
  field?: string | undefined;
  errors?: readonly FieldProblem[];
  requestId?: string | undefined;
  /** Seconds. */
  retryAfter?: number | undefined;
  details?: Readonly<Record<string, unknown>>;
  headers?: Headers;
  retryable?: boolean;
  cause?: unknown;
}

/**
 * An error of this client. `code` is the service's word for it, `http_<status>` where it gave none, or one of this
 * client's own: `invalid_arguments`, `invalid_signature`, `service_unreachable`, `service_timeout`, `unexpected_answer`. The message ends with
 * what to do, where that is known. No message holds the API key.
 */
export class CallwrightError extends Error {
  readonly status: number | undefined;
  readonly code: ProblemCode | (string & {});
  readonly type: string | undefined;
  /** The field, parameter or header that is wrong. */
  readonly field: string | undefined;
  /** All that is wrong with the request. */
  readonly errors: readonly FieldProblem[];
  readonly requestId: string | undefined;
  /** Seconds that the service asks to wait. */
  readonly retryAfter: number | undefined;
  /** Further members of the envelope, for example `current_status`. */
  readonly details: Readonly<Record<string, unknown>>;
  /** The headers of the answer. */
  readonly headers: Headers;
  /** Whether the same request may succeed later. */
  readonly retryable: boolean;

  constructor(message: string, facts: ErrorFacts) {
    super(message, facts.cause === undefined ? undefined : { cause: facts.cause });
    this.name = new.target.name;
    this.status = facts.status;
    this.code = facts.code;
    this.type = facts.type;
    this.field = facts.field;
    this.errors = facts.errors ?? [];
    this.requestId = facts.requestId;
    this.retryAfter = facts.retryAfter;
    this.details = facts.details ?? {};
    this.headers = facts.headers ?? new Headers();
    this.retryable = facts.retryable ?? false;
  }

  /** Where a person can put it right, where the service names an address. */
  get actionUrl(): string | undefined {
    const url = this.details["action_url"];
    return typeof url === "string" ? url : undefined;
  }

  /** When the limit that was reached is whole again, where the service says so. */
  get resetsAt(): Date | undefined {
    const value = this.headers.get("x-ratelimit-reset") ?? "";
    return /^[0-9]{1,10}$/.test(value) ? new Date(Number(value) * 1000) : undefined;
  }

  /** What to do about it, where the code is known. */
  get remedy(): string | undefined {
    return remedyOf(this.code);
  }
}

/** The arguments do not fit; nothing was sent. */
export class InvalidArguments extends CallwrightError {
  constructor(message: string) {
    super(message, { code: "invalid_arguments" });
  }
}
/** 400 and every other 4xx that has no class of its own. */
export class InvalidRequest extends CallwrightError {}
/** 401: no key, or not a valid one. */
export class AuthenticationFailed extends CallwrightError {}
/** 403. */
export class PermissionRefused extends CallwrightError {}
/** 404: there is no such thing in the key's organization. */
export class NotFound extends CallwrightError {}
/** 409: a name is taken, a state does not allow it, the key's creator has left. */
export class Conflict extends CallwrightError {}
/** 422: a business rule forbids it. */
export class RuleRejected extends CallwrightError {}
/** 429: too many requests. `retryAfter` and `resetsAt` say when to go on. */
export class RateLimited extends CallwrightError {}
/** 5xx. */
export class ServiceFailed extends CallwrightError {}
/** The answer is not one that the service describes. */
export class UnexpectedAnswer extends CallwrightError {
  constructor(message: string, facts: Omit<ErrorFacts, "code"> = {}) {
    super(message, { ...facts, code: "unexpected_answer" });
  }
}
/** A request that claims to bring an event was not signed with the secret, or not lately. Answer it with 401. */
export class InvalidSignature extends CallwrightError {
  readonly reason: "missing" | "malformed" | "no_match" | "too_old" | "too_new";

  constructor(reason: InvalidSignature["reason"], message: string) {
    super(message, { code: "invalid_signature" });
    this.reason = reason;
  }
}
/** There was no connection, or it broke. With `requestSent` the service may have done what was asked. */
export class ServiceUnreachable extends CallwrightError {
  readonly requestSent: boolean;

  constructor(message: string, { requestSent, repeatable, cause }: LostAnswer) {
    super(message, { code: "service_unreachable", retryable: repeatable || !requestSent, cause });
    this.requestSent = requestSent;
  }
}
/** The service did not answer in time. It may have done what was asked. */
export class ServiceTimeout extends CallwrightError {
  readonly requestSent = true;

  constructor(message: string, { repeatable }: { repeatable: boolean }) {
    super(message, { code: "service_timeout", retryable: repeatable });
  }
}

interface LostAnswer {
  requestSent: boolean;
  repeatable: boolean;
  cause?: unknown;
}

/** What to do about a code, and nothing about one that is not known. */
export function remedyOf(code: string): string | undefined {
  return Object.hasOwn(problems, code) ? problems[code as ProblemCode].remedy : undefined;
}
