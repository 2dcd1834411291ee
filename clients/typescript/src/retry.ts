// Whether a failed request is sent again, and how long to wait before.
//
// | what happened                                   | GET, PUT, POST with an Idempotency-Key | PATCH, DELETE |
// |-------------------------------------------------|----------------------------------------|---------------|
// | the request never left (no connection was made) | again                                  | again         |
// | 429 `rate_limited`, 408: turned away unserved   | again                                  | again         |
// | the connection broke, or no answer in time      | again                                  | no            |
// | 500, 502, 503, 504                              | again                                  | no            |
// | 409 `idempotency_in_progress`                   | again                                  | no            |
// | 429 `daily_quota_exceeded`, any other answer    | no                                     | no            |
//
// A 429 with `Retry-After` is no failure: such waits are bounded by their sum, everything else by the number of attempts.
// Media that answer 503 `service_unavailable` without `Retry-After` are asked for once more only.

import { CallwrightError, RateLimited } from "./errors.ts";

/**
 * How often and how patiently a request is sent again.
 *
 * `attempts` counts the first one too. Without `Retry-After` the waits are `firstWaitMs`, twice that, four times that, up
 * to `longestBackoffMs`, each shortened at random by up to a half. With it the wait is what the service asks for,
 * lengthened at random by up to a quarter. When the service asks for more than `longestWaitMs`, the problem is thrown at
 * once. One request waits for rate limits no longer than that in all.
 */
export interface Retries {
  attempts: number;
  firstWaitMs: number;
  longestBackoffMs: number;
  longestWaitMs: number;
}

export const RETRIES: Readonly<Retries> = {
  attempts: 4,
  firstWaitMs: 250,
  longestBackoffMs: 8_000,
  longestWaitMs: 30_000,
};
const SHORTEST_TURN_MS = 100;
const UNSERVED = new Set([408, 429]);

/** What one request has been through so far. `random` gives a number from 0 up to but not including 1. */
export class Attempts {
  readonly #rules: Retries;
  readonly #repeatable: boolean;
  readonly #media: boolean;
  readonly #random: () => number;
  #failed = 0;
  #waitedMs = 0;

  constructor(rules: Retries, request: { repeatable: boolean; media: boolean }, random: () => number) {
    this.#rules = rules;
    this.#repeatable = request.repeatable;
    this.#media = request.media;
    this.#random = random;
  }

  /** Milliseconds to wait after an attempt that ended in this error; undefined to give up. */
  waitMs(error: CallwrightError): number | undefined {
    if (!error.retryable) return undefined;
    const askedMs = error.retryAfter === undefined ? undefined : error.retryAfter * 1000;
    if (error instanceof RateLimited && askedMs !== undefined) return this.#turnMs(askedMs);
    this.#failed += 1;
    if (this.#failed >= this.#rules.attempts || !this.#mayRepeat(error)) return undefined;
    if (askedMs !== undefined) return askedMs > this.#rules.longestWaitMs ? undefined : this.#lengthened(askedMs);
    const doubled = this.#rules.firstWaitMs * 2 ** Math.min(this.#failed - 1, 60);
    return Math.min(this.#rules.longestBackoffMs, doubled) * (1 - this.#random() / 2);
  }

  /** The wait for a rate limit. It is never nothing, so that the sum bounds the number of waits too. */
  #turnMs(askedMs: number): number | undefined {
    const wait = Math.max(askedMs, this.#rules.firstWaitMs, SHORTEST_TURN_MS);
    this.#waitedMs += wait;
    if (this.#waitedMs > this.#rules.longestWaitMs || this.#rules.attempts === 1) return undefined;
    return this.#lengthened(wait);
  }

  #mayRepeat(error: CallwrightError): boolean {
    if (error.status === undefined) return true; // `retryable` says it already
    if (UNSERVED.has(error.status)) return true;
    const renderingMissing =
      this.#media && error.code === "service_unavailable" && error.retryAfter === undefined && this.#failed > 1;
    return this.#repeatable && !renderingMissing;
  }

  #lengthened(askedMs: number): number {
    return askedMs * (1 + this.#random() / 4);
  }
}
