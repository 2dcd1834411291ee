import { warn } from "./deprecation.ts";
import type { DeprecationNotice } from "./deprecation.ts";
import { Surface } from "./generated/nouns.ts";
import { betaHeaders } from "./request.ts";
import { RETRIES } from "./retry.ts";
import type { Retries } from "./retry.ts";
import { Session } from "./session.ts";
import { Transport, sleep } from "./transport.ts";

/** What a client is made with. */
export interface ClientOptions {
  /** With its version prefix; without any path `/v1` is added. */
  baseUrl: string;
  /** `svc_live_` and 48 hexadecimal digits. */
  apiKey: string;
  /** Beta features to switch on. */
  beta?: readonly string[];
  /** Bounds each attempt of a request. Default: 30,000. */
  timeoutMs?: number;
  /** Bounds a JSON answer. Default: 16 MiB. */
  maxAnswerBytes?: number;
  retries?: Partial<Retries>;
  /** In place of the global one, for example for a proxy. */
  fetch?: typeof globalThis.fetch;
  /** What waits between attempts. It may end early when the signal is aborted. */
  sleep?: (ms: number, signal?: AbortSignal) => Promise<unknown>;
  /** A number from 0 up to but not including 1: the jitter of waits. */
  random?: () => number;
  /** What makes idempotency keys. */
  newKey?: () => string;
  /** Told once of each operation in use that is going to be taken away; a warning of the process by default. */
  onDeprecation?: (notice: DeprecationNotice) => void;
}

/** The REST client of one organization: `await client.agents.create({...})`, `for await (const call of client.calls.list())`. */
export class Client extends Surface {
  constructor(options: ClientOptions) {
    const transport = new Transport({
      baseUrl: options.baseUrl,
      apiKey: options.apiKey,
      headers: betaHeaders(options.beta ?? []),
      timeoutMs: options.timeoutMs ?? 30_000,
      maxAnswerBytes: options.maxAnswerBytes ?? 16 * 1024 * 1024,
      retries: { ...RETRIES, ...options.retries },
      fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
      sleep: options.sleep ?? sleep,
      random: options.random ?? Math.random,
      onDeprecation: options.onDeprecation ?? warn,
    });
    super(new Session(transport, options.newKey ?? (() => crypto.randomUUID())));
  }
}
