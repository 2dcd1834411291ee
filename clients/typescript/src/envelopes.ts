// Reads a problem from an answer: the nested envelope, the flat one, or neither.
//
// Nested: {"error": {"type", "code", "message", "field"?, "request_id", ...}}
// Flat:   {"error": <code>, "message", "request_id"?, ...}
// The text of any other body, for example a proxy's page, is not repeated.

import {
  AuthenticationFailed,
  CallwrightError,
  Conflict,
  InvalidRequest,
  NotFound,
  PermissionRefused,
  RateLimited,
  RuleRejected,
  ServiceFailed,
  remedyOf,
} from "./errors.ts";
import type { ErrorFacts, FieldProblem } from "./errors.ts";
import { problems } from "./generated/problems.ts";
import type { ProblemCode } from "./generated/problems.ts";

type Kind = new (message: string, facts: ErrorFacts) => CallwrightError;

const KINDS: Readonly<Record<number, Kind>> = {
  401: AuthenticationFailed,
  403: PermissionRefused,
  404: NotFound,
  409: Conflict,
  422: RuleRejected,
  429: RateLimited,
};
const RETRYABLE = new Set([408, 429, 500, 502, 503, 504]);
const NAMED = new Set(["type", "code", "message", "field", "request_id", "errors"]);
const SHOWN = ["current_status", "allowed", "changed", "required", "available", "limit", "current", "action_url"];
const MOST_SHOWN = 6;
/** A 409 that passes: another request with the same key is still being served. */
const IN_PROGRESS = "idempotency_in_progress";
/** A 429 that does not pass before midnight UTC. */
export const QUOTA_EXCEEDED = "daily_quota_exceeded";

/** The problem that an answer of status 400 or above stands for. */
export function problemOf(status: number, headers: Headers, body: string): CallwrightError {
  const fields = fieldsIn(body);
  const code = text(fields["code"]) ?? `http_${status}`;
  const kind = KINDS[status] ?? (status >= 500 ? ServiceFailed : InvalidRequest);
  const facts = {
    status,
    code,
    type: text(fields["type"]),
    field: text(fields["field"]),
    errors: fieldProblems(fields["errors"]),
    requestId: text(fields["request_id"]) ?? headers.get("x-request-id") ?? undefined,
    retryAfter: retryAfterSeconds(headers),
    details: Object.fromEntries(Object.entries(fields).filter(([name]) => !NAMED.has(name))),
    headers,
    retryable: code !== QUOTA_EXCEEDED && (RETRYABLE.has(status) || code === IN_PROGRESS),
  };
  return new kind(words(text(fields["message"]) ?? meaningOf(code) ?? "The service gave no reason.", facts), facts);
}

/** The wait of `Retry-After` in seconds. A date counts from the answer's own `Date`. Source: RFC 9110, section 10.2.3. */
export function retryAfterSeconds(headers: Headers): number | undefined {
  const value = (headers.get("retry-after") ?? "").trim();
  if (/^[0-9]{1,9}$/.test(value)) return Number(value);
  if (!/[a-z]/i.test(value)) return undefined;
  const wait = (Date.parse(value) - Date.parse(headers.get("date") ?? "")) / 1000;
  return Number.isNaN(wait) ? undefined : Math.max(wait, 0);
}

function words(message: string, facts: ErrorFacts): string {
  const { status, code, field, errors = [], requestId, retryAfter, details = {}, headers } = facts;
  const remedy = remedyOf(code);
  const others = errors.slice(1, MOST_SHOWN).map((each) => `; ${each.field}: ${each.message}`);
  const known = SHOWN.map((name) => [name, shown(details[name])]).filter(([, said]) => said).map((each) => each.join(" "));
  const reset = Number(headers?.get("x-ratelimit-reset") ?? NaN);
  if (code === QUOTA_EXCEEDED && reset > 0) {
    known.push(`goes on at ${new Date(reset * 1000).toISOString().replace(".000", "")}`);
  } else if (retryAfter !== undefined) {
    known.push(`wait ${retryAfter} s`);
  }
  const end = remedy !== undefined || message.endsWith(".") ? "." : "";
  return [
    `${status} ${code}: ${message.replace(/\.$/, "")}${field ? ` (field ${field})` : ""}${others.join("")}${end}`,
    remedy,
    known.length > 0 ? `(${known.join("; ")})` : undefined,
    requestId && `[request ${requestId}]`,
  ]
    .filter(Boolean)
    .join(" ");
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return value.map(shown).filter(Boolean).join(", ");
  if (isObject(value)) return Object.values(value).map(shown).filter(Boolean).join(" ");
  return value === null || value === undefined ? "" : String(value);
}

function meaningOf(code: string): string | undefined {
  return Object.hasOwn(problems, code) ? problems[code as ProblemCode].meaning : undefined;
}

function fieldsIn(body: string): Record<string, unknown> {
  let envelope: unknown;
  try {
    envelope = JSON.parse(body);
  } catch {
    return {};
  }
  if (!isObject(envelope)) return {};
  const { error, code: _, ...beside } = envelope;
  if (isObject(error)) return error;
  return typeof error === "string" ? { ...beside, code: error } : {};
}

function fieldProblems(value: unknown): FieldProblem[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isObject).map((each) => ({
    code: text(each["code"]) ?? "",
    field: text(each["field"]) ?? "",
    message: text(each["message"]) ?? "",
  }));
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
