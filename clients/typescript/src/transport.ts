// Sends requests: key, time limits, retries, and errors in this client's own words.

import { Deprecations } from "./deprecation.ts";
import type { DeprecationNotice } from "./deprecation.ts";
import { problemOf } from "./envelopes.ts";
import { CallwrightError, InvalidArguments, ServiceTimeout, ServiceUnreachable, UnexpectedAnswer } from "./errors.ts";
import type { WireRequest } from "./request.ts";
import { Attempts } from "./retry.ts";
import type { Retries } from "./retry.ts";

const PROBLEM_BYTES = 256 * 1024;
/** Causes of a failed `fetch` that say that nothing was sent. */
const NEVER_SENT = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

/** What a transport is made with. */
export interface TransportOptions {
  baseUrl: string;
  apiKey: string;
  headers: Record<string, string>;
  timeoutMs: number;
  maxAnswerBytes: number;
  retries: Retries;
  fetch: typeof globalThis.fetch;
  sleep: (ms: number, signal?: AbortSignal) => Promise<unknown>;
  random: () => number;
  onDeprecation: (notice: DeprecationNotice) => void;
}

/** Limits of one call. */
export interface Limits {
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
}

/** Requests to one service with one key. */
export class Transport {
  readonly baseUrl: string;
  readonly #options: TransportOptions;
  readonly #key: string;
  readonly #deprecations: Deprecations;

  constructor(options: TransportOptions) {
    if (!/^[!-~]+$/.test(options.apiKey)) {
      throw new InvalidArguments("the API key must consist of visible ASCII characters");
    }
    this.baseUrl = checkedBase(options.baseUrl);
    this.#key = options.apiKey;
    this.#options = { ...options, apiKey: "" };
    this.#deprecations = new Deprecations(options.onDeprecation);
  }

  /** Sends a request, again where that is safe, and reads the whole answer. */
  async exchange(wire: WireRequest, limits: Limits): Promise<{ response: Response; body: string }> {
    return await this.#repeated(wire, limits, async (response) => {
      const body = await wholeText(response, this.#options.maxAnswerBytes);
      return { response, body };
    });
  }

  /** Sends a request, again where that is safe, and gives the answer once its headers are there. 304 is a success. */
  async open(wire: WireRequest, limits: Limits): Promise<Response> {
    return await this.#repeated(wire, limits, async (response) => response);
  }

  async #repeated<T>(wire: WireRequest, limits: Limits, read: (response: Response) => Promise<T>): Promise<T> {
    const attempts = new Attempts(this.#options.retries, wire, this.#options.random);
    for (;;) {
      try {
        return await this.#once(wire, limits, read);
      } catch (error) {
        if (!(error instanceof CallwrightError)) throw error;
        const waitMs = attempts.waitMs(error);
        if (waitMs === undefined) throw error;
        await this.#options.sleep(waitMs, limits.signal);
        limits.signal?.throwIfAborted();
      }
    }
  }

  async #once<T>(wire: WireRequest, limits: Limits, read: (response: Response) => Promise<T>): Promise<T> {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), limits.timeoutMs ?? this.#options.timeoutMs);
    const signal = limits.signal ? AbortSignal.any([limits.signal, late.signal]) : late.signal;
    try {
      const response = await this.#options.fetch(this.baseUrl + wire.target, {
        method: wire.method,
        headers: this.#headersOf(wire),
        body: wire.body ?? null,
        redirect: "manual",
        signal,
      });
      this.#deprecations.heed(wire.operation, response.headers);
      if (response.ok || (wire.media && response.status === 304)) return await read(response);
      throw await failure(response);
    } catch (error) {
      if (error instanceof CallwrightError) throw error;
      limits.signal?.throwIfAborted();
      const origin = new URL(this.baseUrl).origin;
      if (late.signal.aborted) throw new ServiceTimeout(`${origin} did not answer in time`, wire);
      if (!(error instanceof TypeError)) throw error;
      const requestSent = !NEVER_SENT.has(causeOf(error));
      const words = requestSent ? "lost the connection to" : "cannot connect to";
      throw new ServiceUnreachable(`${words} ${origin}`, { requestSent, repeatable: wire.repeatable, cause: error });
    } finally {
      clearTimeout(timer);
    }
  }

  #headersOf(wire: WireRequest): Record<string, string> {
    return {
      Authorization: `Bearer ${this.#key}`,
      Accept: "application/json",
      "User-Agent": "callwright-client",
      ...this.#options.headers,
      ...wire.headers,
    };
  }
}

/** Waits, unless the signal is aborted first. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done);
    if (signal?.aborted) done();
  });
}

async function failure(response: Response): Promise<CallwrightError> {
  const requestId = response.headers.get("x-request-id") ?? undefined;
  if (response.status < 400) {
    letGo(response.body);
    const words = `the service answered with status ${response.status}, which no operation gives`;
    return new UnexpectedAnswer(words, { status: response.status, requestId });
  }
  let body = "";
  try {
    body = await wholeText(response, PROBLEM_BYTES);
  } catch (error) {
    if (!(error instanceof UnexpectedAnswer)) throw error;
  }
  return problemOf(response.status, response.headers, body);
}

async function wholeText(response: Response, limitBytes: number): Promise<string> {
  const reader = response.body?.getReader();
  if (reader === undefined) return "";
  const decoder = new TextDecoder();
  let received = 0;
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    received += value.byteLength;
    if (received > limitBytes) {
      letGo(reader);
      throw new UnexpectedAnswer(`the answer is larger than ${limitBytes} bytes`, { status: response.status });
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** Gives up what has not been read, without waiting for it. */
function letGo(unread: { cancel(): Promise<void> } | null): void {
  unread?.cancel().catch(() => undefined);
}

function causeOf(error: Error): string {
  const { cause } = error as { cause?: { code?: unknown } };
  return typeof cause?.code === "string" ? cause.code : "";
}

function checkedBase(baseUrl: string): string {
  let url: URL;
  try {
    url = new URL(baseUrl);
  } catch {
    throw new InvalidArguments("baseUrl is not a URL");
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new InvalidArguments("baseUrl must be an http or https URL, for example http://127.0.0.1:8080/v1");
  }
  if (url.username || url.password || url.search || url.hash || /[?#]/.test(baseUrl)) {
    throw new InvalidArguments("baseUrl must not hold a user, a password, a query or a fragment");
  }
  const path = url.pathname.replace(/\/+$/, "");
  return url.origin + (path === "" ? "/v1" : path);
}
