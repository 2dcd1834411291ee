// The generic doors: any operation, with its own types. The methods by noun stand on these.

import { UnexpectedAnswer } from "./errors.ts";
import { Listing } from "./listing.ts";
import type { Operation, Page } from "./operation.ts";
import { rangeHeader, wireRequest } from "./request.ts";
import type { WireRequest } from "./request.ts";
import type { Transport } from "./transport.ts";

/** What a single call may be given besides its input. */
export interface CallOptions {
  /** Ends the call; what it was aborted with is thrown. */
  signal?: AbortSignal;
  /** Bounds each attempt, in place of the client's own. */
  timeoutMs?: number;
  /** For a POST: your own key, to be safe across calls. One is made for each call otherwise. */
  idempotencyKey?: string;
}

/** What a call for bytes may be given besides its input. */
export interface MediaOptions {
  signal?: AbortSignal;
  /** Bounds the time to the headers. */
  timeoutMs?: number;
  /** The first and the last byte, both counted from 0 and both included. */
  range?: readonly [number, number?];
  /** An `ETag` seen before: if it still holds, the answer is 304 without bytes. */
  ifNoneMatch?: string;
}

/** Asks operations over one transport. */
export class Session {
  readonly #transport: Transport;
  readonly #newKey: () => string;

  constructor(transport: Transport, newKey: () => string) {
    this.#transport = transport;
    this.#newKey = newKey;
  }

  /** The output of an operation. A POST carries the same idempotency key over all its retries. */
  async ask<In extends object, Out>(operation: Operation<In, Out>, input: In, options: CallOptions = {}): Promise<Out> {
    const answer = await this.#json(operation, input, options);
    if (answer === undefined) return undefined as Out;
    return (answer as { data: Out }).data;
  }

  /** A list to await for one page, or to loop over to its end. */
  walk<In extends object, Item>(
    operation: Operation<In, Item>,
    input: In,
    options: CallOptions = {},
  ): Listing<Item> {
    const ask = async (asked: object): Promise<Page<Item>> => {
      const page = (await this.#json(operation, asked, options)) as Partial<Page<Item>>;
      if (Array.isArray(page.data) && typeof page.pagination === "object") return page as Page<Item>;
      throw new UnexpectedAnswer(`the answer to ${operation.name} is not a page of a list`);
    };
    return new Listing(operation.name, input, ask);
  }

  /** The bytes of a media operation: an answer that is 200, 206 for a part, or 304. Read it or cancel its body. */
  async open<In extends object>(
    operation: Operation<In, Response>,
    input: In,
    options: MediaOptions = {},
  ): Promise<Response> {
    const wire = wireRequest(operation, input);
    if (options.range !== undefined) wire.headers["Range"] = rangeHeader(options.range);
    if (options.ifNoneMatch !== undefined) wire.headers["If-None-Match"] = options.ifNoneMatch;
    return await this.#transport.open(wire, options);
  }

  async #json(operation: Operation<never, unknown>, input: object, options: CallOptions): Promise<unknown> {
    const key = options.idempotencyKey ?? (operation.method === "POST" ? this.#newKey() : undefined);
    const wire: WireRequest = wireRequest(operation, input, key);
    const { response, body } = await this.#transport.exchange(wire, options);
    if (operation.shape === "nothing") return undefined;
    const facts = { status: response.status, requestId: response.headers.get("x-request-id") ?? undefined };
    let answer: unknown;
    try {
      answer = JSON.parse(body);
    } catch {
      throw new UnexpectedAnswer(`the answer to ${operation.name} is not JSON`, facts);
    }
    if (typeof answer === "object" && answer !== null && "data" in answer) return answer;
    throw new UnexpectedAnswer(`the answer to ${operation.name} has no data`, facts);
  }
}

/** The methods for one kind of resource; a field of a client. */
export class Noun {
  protected readonly session: Session;

  constructor(session: Session) {
    this.session = session;
  }
}
