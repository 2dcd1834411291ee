// Calls every method once, each against an answer that is given to it, and says what was sent and what came of it.

import { Client, Listing } from "../../clients/typescript/src/index.ts";
import { program } from "./program.mts";

interface Asked {
  baseUrl: string;
  apiKey: string;
  calls: {
    operation: string;
    noun: string;
    method: string;
    input: object;
    answer: { status: number; headers: Record<string, string>; body?: unknown; bytes?: string };
  }[];
}

program<Asked>(async ({ baseUrl, apiKey, calls }) => {
  const seen: Record<string, unknown> = {};
  for (const { operation, noun, method, input, answer } of calls) {
    const sent: unknown[] = [];
    const fetch = async (url: string | URL | Request, init?: RequestInit): Promise<Response> => {
      const headers = Object.fromEntries(new Headers(init?.headers).entries());
      sent.push({ method: init?.method, url: String(url), headers, body: init?.body ?? null });
      const body = answer.bytes ?? (answer.body === undefined ? null : JSON.stringify(answer.body));
      return new Response(body, { status: answer.status, headers: answer.headers });
    };
    const client = new Client({ baseUrl, apiKey, fetch, newKey: () => `key-of-${operation}` });
    const methods = (client as unknown as Record<string, Record<string, unknown>>)[noun] ?? {};
    const call = methods[method];
    if (typeof call !== "function") throw new Error(`there is no client.${noun}.${method}`);
    const given: unknown = call.call(methods, input);
    const kind = given instanceof Listing ? "listing" : "promise";
    const got = await (given as PromiseLike<unknown>);
    seen[operation] = { sent, kind, got: got instanceof Response ? await got.text() : (got ?? null) };
  }
  return seen;
});
